package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/term"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
)

func newImageCmd(a *app) *cobra.Command {
	return group("image", "Build and keep the images local VMs boot from",
		"  joy image build --profile base\n"+
			"  joy image list",
		newImageBuildCmd(a), newImageListCmd(a), newImageShowCmd(a), newImageRmCmd(a),
		newImageExportCmd(a), newImageImportCmd(a))
}

func newImageBuildCmd(a *app) *cobra.Command {
	var o image.Options
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build an image from Debian's archive",
		Long: "Build an image from Debian's archive, without root and without installing anything on this machine.\n\n" +
			"tiny has busybox and bash and takes seconds; base is Debian with Python, git, curl and jq and takes a\n" +
			"minute; full has what documents are made with besides (LibreOffice, pandoc, poppler, matplotlib, fonts, Node)\n" +
			"and takes some minutes. An image that is here already is not built again.",
		Args: noArgs,
		Example: "  joy image build\n" +
			"  joy image build --profile tiny --force\n" +
			"  joy image build --mirror https://mirror.example/debian",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Mirror = a.cfg.Mirror
			return a.buildImage(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Profile, "profile", "base", "what to build: "+strings.Join(image.Profiles, ", "))
	cmd.Flags().BoolVar(&o.Force, "force", false, "build although it is here")
	cmd.Flags().String("mirror", "", "take packages from the Debian mirror at `URL`; their signatures are checked all the same")
	return cmd
}

func (a *app) buildImage(ctx context.Context, o image.Options) error {
	o.CacheDir, o.LookupEnv = a.cfg.Dirs.Cache, a.env.LookupEnv
	if a.verbose > 0 {
		o.Log = a.err
	}
	view := a.watchPhases()
	o.Progress = view.tell
	img, err := image.Build(ctx, o)
	view.end()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(imageJSONOf(img, true))
	}
	err = a.out.Printf("%s %s %s", img.Manifest.Profile, img.Digest(), term.Size(img.Size()))
	return err
}

func newImageListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the images that are here",
		Args:  noArgs,
		Example: "  joy image list\n" +
			"  joy image list --json",
		RunE: func(*cobra.Command, []string) error {
			images, err := image.List(a.cfg.Dirs.Cache)
			if perr := a.printImages(images, fault.All(err)); perr != nil {
				return perr
			}
			if err != nil {
				return exit(exitCode(err))
			}
			return nil
		},
	}
}

func newImageShowCmd(a *app) *cobra.Command {
	var verify bool
	cmd := &cobra.Command{
		Use:   "show IMAGE",
		Short: "Show what an image is made of",
		Long:  "Show what an image is made of. IMAGE is a profile, a digest, or the beginning of one.",
		Args:  argsBetween(1, 1, "an image"),
		Example: "  joy image show base\n" +
			"  joy image show base --verify --json",
		ValidArgsFunction: a.completeImages,
		RunE: func(_ *cobra.Command, args []string) error {
			img, err := image.Resolve(a.cfg.Dirs.Cache, args[0])
			if err == nil && verify {
				err = image.Verify(img)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(img.Manifest)
			}
			return a.printImage(img)
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "read every file and compare it with its digest")
	return cmd
}

func newImageRmCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rm IMAGE...",
		Short: "Remove images",
		Long:  "Remove images. IMAGE is a profile, a digest, or the beginning of one; a whole digest removes a damaged one too.",
		Args:  argsBetween(1, 64, "images"),
		Example: "  joy image rm tiny\n" +
			"  joy image rm 951a0cea",
		ValidArgsFunction: a.completeImages,
		RunE: func(_ *cobra.Command, args []string) error {
			var failed []error
			for _, name := range args {
				if err := a.removeImage(name); err != nil {
					failed = append(failed, err)
				}
			}
			return errors.Join(failed...)
		},
	}
}

func (a *app) removeImage(name string) error {
	digest := "sha256:" + strings.TrimPrefix(name, "sha256:")
	if err := image.Remove(a.cfg.Dirs.Cache, digest); fault.KindOf(err) == fault.Input { // not a whole digest
		img, err := image.Resolve(a.cfg.Dirs.Cache, name)
		if err != nil {
			return err
		}
		digest = img.Digest()
		if err := image.Remove(a.cfg.Dirs.Cache, digest); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	a.say("removed %s", digest)
	return nil
}

// completeImages offers the profiles and digests that are here.
func (a *app) completeImages(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cache, err := image.DefaultCacheDir(func(key string) string { v, _ := a.env.LookupEnv(key); return v })
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, profile := range image.Profiles {
		if _, err := os.Stat(filepath.Join(cache, "profiles", profile+".json")); err == nil {
			names = append(names, profile)
		}
	}
	images, _ := image.List(cache)
	for _, img := range images {
		names = append(names, img.Digest())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
