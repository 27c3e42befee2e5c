# SPDX-License-Identifier: GPL-2.0
# Completion of wsquery for bash.
# shellcheck shell=bash

# What --help and --list-columns say, so that there is no second list of options.
_wsquery_options() {
	"$1" "${2:-map}" --help 2>/dev/null | grep -o -E -e '--[a-z-]+' | sort -u
}

_wsquery() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=map words
	local list=''
	[[ ! ${COMP_WORDS[1]} =~ ^(map|pages|show|info)$ ]] || command=${COMP_WORDS[1]}
	case $before in
	-b | --backend | -c | --compare) words="device scan pagemap" ;;
	--style) words="ascii utf8 colour" ;;
	--names) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
	-r | --range | -m | --mapping | -M | --min | --width | --rows) return ;;
	-o | --columns | -s | --sort | -a | --attrs | --select)
		# Lists: what was typed so far stays in front
		[[ $word != *,* ]] || list=${word%,*},
		words=$("$1" map --list-columns 2>/dev/null | sed -n 's/^\([a-z-]*\)  *.*/\1/p')
		;;
	*)
		if [[ $word == -* ]]; then
			words=$(_wsquery_options "$1" "$command")
		else
			words=$(cd /proc && printf '%s ' [0-9]*)
			[[ $COMP_CWORD -ne 1 ]] || words+=" map pages show info"
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${word##*,}")
}

complete -F _wsquery wsquery
