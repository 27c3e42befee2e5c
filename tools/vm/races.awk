# SPDX-License-Identifier: GPL-2.0
# A kernel log with the reports of KCSAN judged. Two threads race, and each has a stack. It is
# the module's race if a function of it is in either stack: it made the access or called what
# made it. But not if between them is what would have done the same for any caller: an interrupt
# or fault that came while the module ran. Of the module's races all lines come out, marked; of
# the kernel's races with itself one, without the words that are looked for.

# The stack from the access outwards, until it is clear whose it is.
function frame(line) {
	if (decided)
		return
	if (line ~ /^ asm_(sysvec|exc|common|int)/)
		decided = 1
	else if (line ~ / \[wsquery\]$/)
		decided = ours = 1
}

function report_end(	i) {
	if (!ours)
		print "race of the kernel with itself: " title
	for (i = 0; ours && i < lines; i++)
		print "KCSAN: | " report[i]
	inside = 0
}

{
	line = $0
	sub(/\r$/, "", line)
	sub(/^\[ *[0-9]+\.[0-9]+\](\[ *[TC][0-9]+\])? /, "", line)
}

line ~ /^BUG: KCSAN: / {
	if (inside)
		report_end()
	inside = 1
	lines = ours = decided = 0
	title = line
	sub(/^BUG: KCSAN: /, "", title)
}

!inside {
	print
	next
}

{
	report[lines++] = line
	if (line ~ /on cpu [0-9]+:$/)
		decided = 0
	else if (line ~ /^ .*\+0x/)
		frame(line)
	if (line ~ /^=====/ || lines > 300)
		report_end()
}

END {
	if (inside)
		report_end()
}
