# The Homebrew formula. tools/release fills in the version and the check sums.
class Looprun < Formula
  desc "Run a command in a loop until it is done, and stop it when it is stuck"
  homepage "https://github.com/looprun/looprun"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/looprun/looprun/releases/download/{{.Tag}}/looprun_{{.Version}}_darwin_arm64.tar.gz"
      sha256 "{{.Sums.darwin_arm64}}"
    end
    on_intel do
      url "https://github.com/looprun/looprun/releases/download/{{.Tag}}/looprun_{{.Version}}_darwin_amd64.tar.gz"
      sha256 "{{.Sums.darwin_amd64}}"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/looprun/looprun/releases/download/{{.Tag}}/looprun_{{.Version}}_linux_arm64.tar.gz"
      sha256 "{{.Sums.linux_arm64}}"
    end
    on_intel do
      url "https://github.com/looprun/looprun/releases/download/{{.Tag}}/looprun_{{.Version}}_linux_amd64.tar.gz"
      sha256 "{{.Sums.linux_amd64}}"
    end
  end

  def install
    bin.install "looprun", "looprun-serve", "looprun-mcp", "looprun-notify", "looprun-fleet"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/looprun.bash" => "looprun"
    zsh_completion.install "completions/_looprun"
    fish_completion.install "completions/looprun.fish"
    doc.install "README.md", "LICENCES-OF-DEPENDENCIES.txt", *Dir["*.cdx.json"]
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/looprun --version").strip
    assert_match "test-fail", pipe_output("#{bin}/looprun signature", "--- FAIL: TestA (0.00s)\nFAIL\n")
    system bin/"looprun", "-q", "--", "true"
  end
end
