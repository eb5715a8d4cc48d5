kernel/../../../../../../etc/passwd
