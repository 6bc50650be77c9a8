//go:build linux

// probe tries from inside a world what a shell has no word for, and prints what it got.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func main() {
	commands := map[string]func([]string) error{
		"calls": calls, "as": as, "shm": shm, "mq": mq, "abstract": abstract, "socket": socket, "door": door,
		"attribute": attribute, "project": project,
	}
	run := commands[os.Args[1]]
	if err := run(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

// attribute sets an extended attribute of a file, or prints it: attribute FILE NAME [VALUE].
func attribute(args []string) error {
	if len(args) == 3 {
		return unix.Setxattr(args[0], args[1], []byte(args[2]), 0)
	}
	value := make([]byte, 256)
	n, err := unix.Getxattr(args[0], args[1], value)
	if err == nil {
		fmt.Println(string(value[:n]))
	}
	return err
}

// as executes a program as another user.
func as(args []string) error {
	uid, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil {
		return err
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return cmd.Run()
}

// shm makes or looks for System V shared memory.
func shm(args []string) error {
	flags := 0o600
	if args[0] == "make" {
		flags |= unix.IPC_CREAT
	}
	_, err := unix.SysvShmGet(42, 4096, flags)
	return err
}

// mq makes or looks for a POSIX message queue.
func mq(args []string) error {
	flags := unix.O_RDWR
	if args[0] == "make" {
		flags |= unix.O_CREAT
	}
	name, _ := unix.BytePtrFromString("joy")
	_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(ptr(name)), uintptr(flags), 0o600, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// abstract listens on an abstract socket until its input ends.
func abstract(args []string) error {
	l, err := net.Listen("unix", "@"+args[0])
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("up")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// socket leaves a socket behind.
func socket(args []string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Bind(fd, &unix.SockaddrUnix{Name: args[0]})
}

// door opens many connections at once, says something on each and prints how many were answered.
func door(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	answers := make(chan error, n)
	for i := range n {
		all.Go(func() { answers <- ask(fmt.Sprintf("hello %d", i)) })
	}
	all.Wait()
	close(answers)
	good := 0
	var bad error
	for err := range answers {
		if err == nil {
			good++
		} else {
			bad = err
		}
	}
	fmt.Println(good)
	return bad
}

func ask(text string) error {
	conn, err := net.Dial("tcp4", "127.0.0.1:569")
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		return err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	got, err := io.ReadAll(conn)
	if err == nil && string(got) != text {
		err = errors.New("not my answer")
	}
	return err
}
