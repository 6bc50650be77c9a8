package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/term"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
)

func newImageExportCmd(a *app) *cobra.Command {
	var o image.ExportOptions
	var file string
	cmd := &cobra.Command{
		Use:   "export IMAGE -o FILE",
		Short: "Write an image as one file",
		Long: "Write an image as one file, for joy image import on another machine. IMAGE is a profile, a digest, or the\n" +
			"beginning of one. The format oci is an OCI archive that containerd can import, too: the root file system is a\n" +
			"layer of a container image, and the files of the VM lie beside it. It is about twice as large.",
		Args: argsBetween(1, 1, "an image"),
		Example: "  joy image export base -o base.joy-image\n" +
			"  joy image export full --format oci -o full.oci.tar",
		ValidArgsFunction: a.completeImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return fault.New(fault.Input, "no file to write to").WithHint("joy image export %s -o FILE", args[0])
			}
			return a.exportImage(cmd.Context(), args[0], file, o)
		},
	}
	cmd.Flags().StringVar(&o.Format, "format", image.FormatFile, "what to write: "+strings.Join(image.Formats, ", "))
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to `FILE`")
	return cmd
}

func (a *app) exportImage(ctx context.Context, name, file string, o image.ExportOptions) error {
	img, err := image.Resolve(a.cfg.Dirs.Cache, name)
	if err != nil {
		return err
	}
	path := a.abs(file)
	o.TempDir = filepath.Dir(path)
	o.Container = func(digest string) {
		if err := image.KeepContainer(a.cfg.Dirs.Cache, img, digest); err != nil {
			a.warn("%v: joy build cannot pin it", err)
		}
	}
	size, err := a.writeWhole(path, 0o644, func(w io.Writer) error {
		view := a.watchPhases()
		defer view.end()
		o.Progress = view.tell
		return image.Export(ctx, img, w, o)
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(imageFileJSON{"joy.image-exported/1", img.Digest(), o.Format, file, size})
	}
	err = a.out.Printf("%s %s %s %s", img.Manifest.Profile, img.Digest(), file, term.Size(size))
	return err
}

// imageFileJSON is an exported image. Size is in bytes.
type imageFileJSON struct {
	Schema string `json:"schema"`
	Digest string `json:"digest"`
	Format string `json:"format"`
	File   string `json:"file"`
	Size   int64  `json:"size"`
}

// writeWhole writes a file that is there whole or as it was before. What is there and is no ordinary file stays: a device
// would be replaced, not written to.
func (a *app) writeWhole(path string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return 0, fault.New(fault.Input, "%s is not an ordinary file, and is not replaced", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return 0, fault.Wrap(fault.Input, err, "write %s", path)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f); err != nil {
		return 0, err
	}
	st, err := f.Stat()
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, fault.Wrap(fault.Platform, err, "write %s", path)
	}
	return st.Size(), nil
}

func newImageImportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Take an image out of a file",
		Long: "Take an image out of a file that joy image export wrote, in either format, after a check of every byte against\n" +
			"the image's digest. A profile that means an image here already keeps its meaning.",
		Args: argsBetween(1, 1, "a file"),
		Example: "  joy image import base.joy-image\n" +
			"  joy image import full.oci.tar --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.importImage(cmd.Context(), args[0])
		},
	}
}

func (a *app) importImage(ctx context.Context, file string) error {
	view := a.watchPhases()
	done, err := image.Import(ctx, a.abs(file), image.ImportOptions{CacheDir: a.cfg.Dirs.Cache, Progress: view.tell})
	view.end()
	if err != nil {
		if f := (*fault.Error)(nil); errors.As(err, &f) && f.File != "" {
			f.File = file
		}
		return err
	}
	m := done.Image.Manifest
	switch {
	case done.Already:
		a.say("image %s is here already", m.Digest)
	case !done.Current:
		a.say("profile %s keeps its meaning here; image: %s names this one", m.Profile, m.Digest)
	}
	if a.json {
		j := imageJSONOf(done.Image, done.Current)
		j.Schema = "joy.image-imported/1"
		return a.printJSON(j)
	}
	err = a.out.Printf("%s %s %s", m.Profile, m.Digest, term.Size(done.Image.Size()))
	return err
}
