# SPDX-License-Identifier: Apache-2.0
# Completion of worldfs(1) in fish. The program itself offers the words that may come next.

function __worldfs_complete
	set -l before (commandline -opc)
	set -l current (commandline -ct)
	for line in ($before[1] __complete $before[2..-1] "$current" 2>/dev/null)
		switch $line
			case :files
				__fish_complete_path $current
			case :directories
				__fish_complete_directories $current ''
			case '*'
				echo $line
		end
	end
end

complete -c worldfs -f -a '(__worldfs_complete)'
