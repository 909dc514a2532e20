/** Types the first commands and "One small host" of docs/operating.md into one shell. */
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, readDocument } from "../docs/document.ts";
import { hasProgram, openShell, type Shell } from "../docs/shell.ts";
import { copyClone } from "../start/fresh_clone.ts";
import { terminal } from "../start/npm_start.ts";
import { useFolder } from "../support/folder.ts";
import { type LivePlatforms, startLivePlatforms } from "../support/live_platforms.ts";
import { type Hosts, makeHosts, writePrograms } from "./simulated_hosts.ts";
import { stepsOf, typeSteps, withApplications } from "./typed_blocks.ts";

const [install] = blocksOf(readDocument("docs/operating.md"));
const steps = stepsOf("One small host");

const programs = await Promise.all(["curl", "git", "jq", "npm"].map(hasProgram));
const canRun = process.platform === "linux" && programs.every(Boolean);
const host = 9;
const nothing = async () => undefined;

describe.skipIf(!canRun)("docs/operating.md: one small host (Linux with curl, git, jq and npm)", () => {
  const folder = useFolder();
  let hosts: Hosts;
  let platforms: LivePlatforms;
  let shell: Shell;

  /**
   * Replaces the addresses and paths in a block. The test has no TLS, so requests for the public URL go to the server.
   */
  const here = (block: string) =>
    hosts
      .here(withApplications(copyClone(block), platforms.env))
      .replaceAll(/(http:\/\/)127\.0\.0\.1(:8080|:9090)/g, `$1${hosts.addressOf(host)}$2`)
      .replaceAll(/(curl .*)https:\/\/links.example.com/g, `$1http://${hosts.addressOf(host)}:8080`)
      .replaceAll("~/", `${folder}/`);

  beforeAll(async () => {
    const services = { caddy: { start: nothing, stop: nothing } };
    hosts = await makeHosts({ numbers: [host], operator: host, services });
    for (const part of ["etc/caddy"]) {
      await mkdir(join(hosts.rootOf(host), part), { recursive: true });
    }
    await writePrograms(join(hosts.rootOf(host), "bin"), {
      "apt-get": `case "$*" in "update -qq" | "install -qq caddy") ;; *) exit 1 ;; esac`,
    });
    platforms = await startLivePlatforms();
    const { ACCOUNTLINK_PORT: _, ...env } = terminal();
    const PATH = `${hosts.programs}:${env["PATH"]}`;
    shell = openShell({ cwd: folder, env: { ...env, PATH }, folder, timeout: 240_000 });
  });

  afterAll(async () => {
    shell?.close();
    await hosts?.close();
    await platforms?.stop();
  });

  it("the documented steps start a server on live platforms, and restore its backup", async () => {
    const [clone = "", ...rest] = (install?.text ?? "").split("\n");
    await shell.type(here(clone));
    const variables = join(hosts.rootOf(host), "opt/accountlink/deploy/one_host.env");
    const address = `ACCOUNTLINK_HOST=${hosts.addressOf(host)}\n`;
    await writeFile(variables, address + here(await readFile(variables, "utf8")));
    await shell.type(here(rest.join("\n")));
    expect(steps.length).toBeGreaterThan(4);
    await typeSteps(shell, steps, here, () => hosts.journalOf(host));
  });

  it("files with secrets can be read only by their owner", async () => {
    const machine = hosts.rootOf(host);
    const backups = join(machine, "var/lib/accountlink/backups");
    const names = (await readdir(backups)).map((name) => join(backups, name));
    expect(names.length).toBeGreaterThan(0);
    for (const file of [
      ...names,
      join(machine, "etc/accountlink/accountlink.env"),
      join(folder, "accountlink.secret"),
      join(machine, "var/lib/accountlink/secret"),
    ]) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});
