/** A data folder that an early release made: this release reads its imports, undoes them, and keeps its rules. */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { clubOf, returnAs, verified } from "../contract/site_server.ts";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { formOf, locationOf, openBrowser, wordsOf } from "../support/flow_browser.ts";
import { useFolder } from "../support/folder.ts";
import { type Answer, textOf } from "../support/http.ts";
import { uploadLinks } from "../support/link_upload.ts";
import { startServer } from "../support/server.ts";
import { checkOut, git, releaseBefore } from "./releases.ts";

/** The last commit whose schema was one migration. Its imports could be undone, and its rules had no history. */
const early = "5d1b4f21a5397b710b09c756176293e25d302202";

const ada = "100001";
const folder = useFolder();
const fixtures = makeFixtures();
const key = fixtures.key({ account: "club", guildId: guild });
const fixture = clubOf(ada)(fixtures.fixture);
const env = { ACCOUNTLINK_SECRET: randomBytes(32).toString("base64") };

const startRelease = async (program?: string) => {
  const dataFolder = join(folder, "data");
  const server = await startServer({ fixture, env, dataFolder, ...(program !== undefined && { program }) });
  const browser = openBrowser(() => server.url, fixtures.address());
  expect((await browser.get(await returnAs(browser, ada))).status).toBe(303);
  const imports = await browser.get("/dashboard/imports");
  const { csrf = "" } = formOf(imports);
  const api = async (line: Parameters<typeof server.send>[0], body?: object): Promise<Answer> => {
    const cookie = `accountlink_session=${browser.cookies.get("accountlink_session") ?? ""}`;
    const headers = { cookie, origin: server.url, "x-csrf-token": csrf };
    return server.send(line, { headers, ...(body && { body }) });
  };
  const { body } = await api("GET /dashboard/api/scopes");
  const scopes = body.data?.["scopes"] as unknown as ReadonlyArray<{ pid: string; guildId: string | null }>;
  const pid = textOf(scopes.find(({ guildId }) => guildId === guild)?.pid);
  return {
    api,
    pid,
    browser,
    /** The links as file, without the time of each. */
    links: async () => {
      const { text } = await browser.get(`/dashboard/links.csv?pid=${pid}`);
      const [, ...rows] = text.trim().split("\n");
      return rows.map((line) => line.replace(/,[^,]*$/, "")).toSorted();
    },
    import: async (name: string, rows: ReadonlyArray<string>) => {
      const fields = { csrf, pid, onConflict: "replace" };
      const file = `chatId,gameId\n${rows.join("\n")}\n`;
      const preview = locationOf(await uploadLinks(browser, fields, file, { name }));
      await browser.post(`${preview}/start`, { csrf });
      await expect
        .poll(async () => wordsOf(await browser.get(preview)), { timeout: 20_000 })
        .toContain("The links are imported.");
      return preview;
    },
    undo: async (path: string) => {
      expect((await browser.post(path, { csrf })).status).toBe(303);
      await expect
        .poll(async () => wordsOf(await browser.get(path)), { timeout: 20_000 })
        .toContain("The import is undone");
    },
    link: (chatId: string, gameId: string) =>
      server.send("PATCH /v2/game", { key, body: { chatId, gameId, guildId: guild } }),
    stop: async () => {
      browser.close();
      expect(await server.stop()).toBe(0);
    },
  };
};

const rules = [{ roleId: verified.id, when: { is: "linked" }, nickname: null }];
const before = ["100003,3", "100004,4"];

const missing = await git("cat-file", "-e", early).then(
  () => "",
  () => "(this checkout lacks the commit)",
);

test.skipIf(missing !== "")(
  `imports of an early release are undone two releases later ${missing}`,
  async () => {
    const programs = await Promise.all(
      [early, await releaseBefore()].map(async (commit) => {
        const place = join(folder, commit.slice(0, 8));
        await mkdir(place);
        return checkOut(commit, place);
      }),
    );
    const first = await startRelease(programs[0]);
    onTestFinished(() => first.browser.close());
    for (const line of before) {
      const [chatId = "", gameId = ""] = line.split(",");
      expect((await first.link(chatId, gameId)).status).toBe(200);
    }
    expect(await first.links()).toEqual(before);
    const settings = { pid: first.pid, guildId: guild, rules, nickname: null, unlinked: "keep", state: "on" };
    expect((await first.api("PUT /dashboard/api/roles", settings)).status).toBe(200);
    const oldImport = await first.import("early.csv", ["100003,1", "100005,5"]);
    expect(await first.links()).toEqual(["100003,1", "100004,4", "100005,5"]);
    await first.stop();

    const second = await startRelease(programs[1]);
    expect(wordsOf(await second.browser.get("/dashboard/imports"))).toContain("early.csv");
    const newImport = await second.import("second.csv", ["100006,6"]);
    await second.stop();

    const now = await startRelease();
    expect(await now.links()).toEqual(["100003,1", "100004,4", "100005,5", "100006,6"]);
    const listed = wordsOf(await now.browser.get("/dashboard/imports"));
    expect(listed).toContain("early.csv");
    expect(listed).toContain("second.csv");
    const query = `pid=${now.pid}&guildId=${guild}`;
    const plan = async () => (await now.api(`GET /dashboard/api/roles?${query}`)).body.data?.plan;
    expect(await plan()).toMatchObject({ rules, unlinked: "keep", status: { state: "on" } });
    // The newer import is undone first, and each undo takes back its own links alone.
    await now.undo(`${newImport}/undo`);
    expect(await now.links()).toEqual(["100003,1", "100004,4", "100005,5"]);
    await now.undo(`${oldImport}/undo`);
    expect(await now.links()).toEqual(before);
    const ofUser = `pid=${now.pid}&chatId=100003`;
    expect(wordsOf(await now.browser.get(`/dashboard/links/user?${ofUser}`))).toContain("early.csv");
    // What this release did to members whose rules an early release saved is in its history.
    const history = async () => (await now.api(`GET /dashboard/api/roles/history?${query}`)).body.data;
    await expect
      .poll(history, { timeout: 30_000 })
      .toMatchObject({ changes: expect.arrayContaining([expect.objectContaining({ roleId: verified.id })]) });
    await now.stop();
  },
);
