package filelock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// networkName names the network file system that dir lies on, or is empty for a local one. Whatever runs in user space (FUSE)
// counts as a network: sshfs and its like are there, and each decides by itself what a lock means.
func networkName(dir string) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return "", fmt.Errorf("file system of %s: %w", dir, err)
	}
	return magicName(uint32(stat.Type)), nil
}

func magicName(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	case unix.V9FS_MAGIC:
		return "9P"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case lustreMagic:
		return "Lustre"
	}
	return ""
}

const lustreMagic = 0x0BD00BD0
