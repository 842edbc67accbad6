package filelock

import "testing"

func TestNetworkFileSystems(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0x517B: "SMB", 0xFF534D42: "SMB", 0xFE534D42: "SMB", 0x65735546: "FUSE", 0x01021997: "9P", 0x00C36400: "Ceph",
		0x5346414F: "AFS", 0x6B414653: "AFS", 0x73757245: "Coda", 0x0BD00BD0: "Lustre",
		0xEF53: "", 0x58465342: "", 0x9123683E: "", 0x01021994: "", 0x794C7630: "", 0x2FC12FC1: "", // ext4, xfs, btrfs, tmpfs, overlay, zfs
	} {
		if got := magicName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	if name, err := networkName(t.TempDir()); name != "" || err != nil {
		t.Errorf("a local directory is %q, %v", name, err)
	}
	if _, err := networkName("/no/such/place"); err == nil {
		t.Error("a missing directory has a file system")
	}
}
