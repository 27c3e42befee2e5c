# SPDX-License-Identifier: GPL-2.0
# locks.awk -v json=FILE -v kernel=RELEASE PRINTED [COUNTED]: the table of lock holds, from what
# the benchmark printed (locks.c) and the plugin counted (qemu/count.c); and lines of JSON.

$1 == "lock" {
	rows++
	id[rows] = $2
	name[rows] = $3
	who[rows] = $4
	pages[rows] = $5
	traced[rows] = $6
	bytes[rows] = $7
	if ($4 == "wsquery" && $7 > most_bytes)
		most_bytes = $7
	next
}
$1 == "promise" { promised_pages = $2; promised_bytes = $3 }
$1 == "hold" { hold[$2, $3] = $4; number[$2, $3] = $5; counted = 1 }

function result(row, what, value) {
	if (value < 0 || value == "")
		return
	case_name = name[row]
	sub("/", "-", case_name)
	unit = what == "memory" ? "bytes" : counted ? "insn" : "ns"
	printf "{\"case\":\"%s/%s\",\"who\":\"%s\",", what, case_name, who[row] >json
	printf "\"per_page\":%.3f,\"unit\":\"%s\",\"kernel\":\"%s\"}\n", value, unit, kernel >json
}

function cell(value, width) {
	return value == "" || value < 0 ? sprintf(" %*s", width, "-") : sprintf(" %*d", width, value)
}

# Of most forms, how many pages were answered in a hold.
function per_hold(row, n) {
	n = number[id[row], "mmap"]
	if (!n || pages[row] > 1000000 || name[row] ~ /^one/)
		return -1
	return (pages[row] + n - 1) / n
}

END {
	print ""
	if (counted)
		print "Lock holds: instructions of the longest in a call, without those of interrupts"
	else
		print "Lock holds: ns of the longest in a call, as the kernel's trace events have it"
	printf "%-23s %-12s %8s %8s %8s %8s %8s %8s %8s %8s\n", "", "", "pages in", "mmap",
		"its", "page", "", "preempt", "bytes", "by trace"
	printf "%-23s %-12s %8s %8s %8s %8s %8s %8s %8s %8s\n", "case", "who", "a hold", "lock",
		"number", "table", "RCU", "off", "of call", "events"
	for (i = 1; i <= rows; i++) {
		line = sprintf("%-23s %-12s", name[i] == last ? "" : name[i], who[i])
		last = name[i]
		line = line cell(per_hold(i), 8) cell(hold[id[i], "mmap"], 8)
		line = line cell(number[id[i], "mmap"], 8) cell(hold[id[i], "spin"], 8)
		line = line cell(hold[id[i], "rcu"], 8) cell(hold[id[i], "preempt"], 8)
		print line cell(bytes[i], 8) cell(traced[i], 8)
		result(i, "hold-mmap", counted ? hold[id[i], "mmap"] : traced[i])
		result(i, "hold-table", hold[id[i], "spin"])
		result(i, "hold-rcu", hold[id[i], "rcu"])
		result(i, "preempt-off", hold[id[i], "preempt"])
		result(i, "memory", bytes[i])
		if (who[i] != "wsquery")
			continue
		for (k = split("mmap spin rcu preempt", kind, " "); k; k--)
			if (hold[id[i], kind[k]] > most[k]) {
				most[k] = hold[id[i], kind[k]]
				where[k] = name[i]
			}
	}
	if (counted) {
		printf "wsquery at most: mmap lock %d (%s), page table %d (%s),\n", most[1], where[1],
			most[2], where[2]
		printf "RCU %d (%s), preemption off %d (%s)\n", most[3], where[3], most[4], where[4]
	}
	printf "wsquery's memory in a call: at most %d bytes; promised are %d%s\n", most_bytes,
		promised_bytes, most_bytes > promised_bytes ? ": MISSED" : ""
}
