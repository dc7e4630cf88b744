// Written by looprun hook install opencode; looprun hook remove opencode removes it.
export const looprun = async ({ client, directory }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    const id = event.properties.sessionID
    const { spawnSync } = await import("node:child_process")
    const run = spawnSync("looprun", ["hook", "stop", "--as", "opencode"], {
      cwd: directory, input: JSON.stringify({ session_id: id, cwd: directory }), encoding: "utf8",
    })
    if (run.error) return console.error("looprun is not on the PATH: the stop is not judged")
    const said = JSON.parse(run.stdout || "{}")
    if (said.decision === "block")
      await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: said.reason }] } })
  },
})
