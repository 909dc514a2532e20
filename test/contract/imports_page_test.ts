/** Tests the import of link files on the dashboard, with forms as a browser without JavaScript sends them. */

import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { emptyGuild, guild } from "../support/fixtures.ts";
import { formOf, locationOf, wordsOf } from "../support/flow_browser.ts";
import { textOf } from "../support/http.ts";
import { uploadLinks } from "../support/link_upload.ts";
import { connectTo, readAnswers } from "../support/raw_http.ts";
import { dataOf } from "./contract_server.ts";
import { createKey, headersOf, pidOf, signInOwner } from "./dashboard.ts";
import { managedBy, useSiteServer } from "./site_server.ts";

/** The most links of an account. */
const most = 400;

const server = useSiteServer(
  { ACCOUNTLINK_FREE_LINKS: String(most) },
  managedBy(["100030", "100032", "100033"]),
);

const imports = "/dashboard/imports";

type Form = Readonly<Record<string, string>>;
const makeImporter = async (chatId: string) => {
  const owner = await signInOwner(server, chatId);
  await createKey(owner);
  const pid = await pidOf(owner);
  const { get, post } = owner.browser;
  const csrf = formOf(await get(imports))["csrf"] ?? "";
  const postForm = (path: string, form: Form = {}) => post(path, { csrf, ...form });
  const upload = (
    file: string | Uint8Array<ArrayBuffer>,
    form: Form = {},
    of?: { readonly name: string; readonly type: string },
  ) => uploadLinks(owner.browser, { csrf, pid, onConflict: "newest", ...form }, file, of);
  /** Starts an import, reloads its page until it has finished, and returns the text of the page. */
  const run = async (preview: string) => {
    expect(locationOf(await postForm(`${preview}/start`))).toBe(preview);
    for (;;) {
      const page = await get(preview);
      if (!page.text.includes("<title>Importing links")) return wordsOf(page);
      await pause(50);
    }
  };
  /** Downloads the owner's links as CSV, and returns the rows without the time of each link. */
  const links = async () => {
    const { text } = await get(`/dashboard/links.csv?pid=${pid}`);
    const [, ...rows] = text.trim().split("\n");
    return rows.map((line) => line.replace(/,[^,]*$/, ""));
  };
  return {
    owner,
    pid,
    get,
    upload,
    post: postForm,
    run,
    links,
    imported: async (...file: Parameters<typeof upload>) => {
      const preview = locationOf(await upload(...file));
      await run(preview);
      return `${preview}/undo`;
    },
    expectUndone: async (undo: string, left: ReadonlyArray<string>) => {
      expect(locationOf(await postForm(undo))).toBe(undo);
      expect(wordsOf(await get(undo))).toContain("The import is undone.");
      expect(await links()).toEqual(left);
    },
  };
};

const datedFile = (...links: ReadonlyArray<string>) =>
  ["chatId,gameId,verifiedAt", ...links.map((link) => `${link},2026-01-01T00:00:00Z`), ""].join("\n");

test("who leaves the team while a file arrives uploads nothing", async () => {
  const [importer, admin] = [await makeImporter("100036"), await signInOwner(server, "100037")];
  const [member, account] = ["100037", `chat:100036`];
  const body = { chatId: member, role: "admin" };
  dataOf(await importer.owner.send("POST /dashboard/api/members", { body }), 201);
  dataOf(await admin.send("POST /dashboard/api/session/account", { body: { account } }));
  const csrf = formOf(await admin.browser.get(imports))["csrf"] ?? "";
  const fields = Object.entries({ csrf, pid: importer.pid, onConflict: "newest" });
  const partOf = (name: string, rest: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${rest}`;
  const [begun, rest] = [
    fields.map(([name, value]) => partOf(name, `\r\n\r\n${value}\r\n`)).join("") +
      partOf("file", '; filename="links.csv"\r\nContent-Type: text/csv\r\n\r\nchatId,gameId\r\n'),
    "200001,1\r\n--b--\r\n",
  ];
  const { cookie } = headersOf(admin.browser, server.url(), csrf);
  const socket = await connectTo(server.url());
  const head = `Host: a\r\nCookie: ${cookie}\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b`;
  socket.write(
    `POST ${imports} HTTP/1.1\r\n${head}\r\nContent-Length: ${begun.length + rest.length}\r\n\r\n${begun}`,
  );
  // The server has found the sender once it answers a request that was sent after the upload.
  expect((await admin.browser.get(imports)).status).toBe(200);
  dataOf(await importer.owner.send(`DELETE /dashboard/api/members/${member}`));
  socket.write(rest);
  const [answer] = await readAnswers(socket);
  expect([answer?.status, answer?.headers["location"]]).toEqual([303, "/dashboard/sign-in?form=lost"]);
});

test("an upload is previewed, imported once, and reports each skipped row", async () => {
  const importer = await makeImporter("100001");
  const rows = Array.from({ length: 300 }, (_, index) => `${200_001 + index};${1 + index}`);
  const file = `\uFEFFDiscord ID;Roblox ID\r\n${[...rows, "1.2E+17;5", "200001;7", "=1+1;1", ";"].join("\r\n")}\r\n`;
  const preview = locationOf(await importer.upload(file));
  expect(preview).toMatch(/^\/dashboard\/imports\/[\da-f-]{36}$/);
  const shown = await importer.get(preview);
  expect(shown.status).toBe(200);
  expect(shown.text).toContain("Import 300 links</button>");
  expect(shown.text).toMatch(/class="notice warn".*This is a preview. Nothing is saved yet/);
  const text = wordsOf(shown);
  expect(text).toContain("300 links of “links.csv” would be stored");
  expect(text).toContain("export the file again with this column as text: 1 row Line 302: 1.2E+17;5");
  expect(text).toContain("has another link in the file, which counts: 1 row Line 303: 200001;7");
  expect(text).toContain("200010");
  expect(await importer.links()).toEqual([]);
  const leftOut = [
    "line,reason,row",
    '302,"chatId is ""1.2E+17"": a spreadsheet has destroyed the number, export it again with the column as text",1.2E+17;5',
    '303,"chat user 200001 is linked to 7 here and to 1 on line 2, which counts",200001;7',
    '304,"chatId is the formula ""=1+1"", expected 5 to 32 digits",\'=1+1;1',
    "",
  ].join("\n");
  expect((await importer.get(`${preview}/left_out.csv`)).text).toBe(leftOut);

  expect(locationOf(await importer.post(`${preview}/start`))).toBe(preview);
  const done = await importer.run(preview);
  expect(done).toContain("The links are imported.");
  expect(done).toContain("300 links of “links.csv” were stored");
  const file_ = await importer.get(`${preview}/left_out.csv`);
  expect(file_.headers["content-disposition"]).toBe('attachment; filename="left_out.csv"');
  expect(file_.text).toBe(leftOut);
  expect(await importer.links()).toHaveLength(300);

  const { body } = await importer.owner.send("GET /dashboard/api/audit?action=links.imported");
  const imported = { actor: { type: "account" }, details: { inserted: 300 } };
  expect(body.data?.["entries"]).toMatchObject([imported]);
  expect(locationOf(await importer.post(`${preview}/drop`))).toBe(imports);
  expect(locationOf(await importer.get(preview))).toBe(`${imports}?gone=1`);

  const form = (await importer.get(imports)).text;
  for (const [choice, counts] of [
    ["verified last", "If the file has one member twice, the newer row counts"],
    ["existing link", "Of two rows of one user, the first row counts"],
    ["from the file", "Of two rows of one user, the last row counts"],
  ]) {
    expect(form).toContain(`${choice} <small>${counts}`);
  }
  expect(form).toContain("Rows without a date are stored with today’s date");
  expect(form).toContain("A link that was removed here stays removed.");
  const again = locationOf(await importer.upload(file, { onConflict: "newest" }));
  const none = (await importer.get(again)).text;
  expect(none).toMatch(/class="notice warn".*Nothing to import: no row of this file adds or changes a link/);
  expect(none).toContain("Not taken, because a newer link or a removal is here already");
  expect(none).not.toContain("/start");
  expect(await importer.run(again)).toContain("0 links of “links.csv” were stored");
});

test("the page of a user folds many imports that may have changed the link", async () => {
  const importer = await makeImporter("100009");
  const folded: Array<boolean> = [];
  for (let count = 1; count <= 6; count++) {
    await importer.imported(`chatId,gameId\n${200_000 + count},${count}\n`);
    const { text } = await importer.get(`/dashboard/links/user?pid=${importer.pid}&chatId=200001`);
    folded.push(/<details>\s*<summary>Imports that may have changed this link/.test(text));
  }
  expect(folded).toEqual([false, false, false, false, false, true]);
});

test("an upload may be JSON, may name its columns, and may say how to resolve conflicts", async () => {
  const importer = await makeImporter("100002");
  const json = { name: "map.json", type: "application/json" };
  await importer.imported('{"100001":"1","100002":"2"}', {}, json);
  const form = { onConflict: "replace", chatColumn: "Player", gameColumn: "Account" };
  const second = locationOf(await importer.upload("Player,Account\n100001,9\n100003,3\n", form));
  expect(wordsOf(await importer.get(second))).toMatch(/Changes the account or the time ?1/);
  await importer.run(second);
  expect(await importer.links()).toEqual(["100001,9", "100002,2", "100003,3"]);
});

test("an upload that is not a list of links is refused with a one-sentence message", async () => {
  const importer = await makeImporter("100003");
  const cases: ReadonlyArray<readonly [string | Uint8Array<ArrayBuffer>, string]> = [
    [new Uint8Array([0x50, 0x4b, 3, 4]), "This is an Excel file or a ZIP archive"],
    [new Uint8Array([0x89, 0x50, 0x4e, 0x47]), "The file is an image. Choose CSV or JSON."],
    ["", "The file is empty. It needs a header"],
    ["chatId,gameId\n=1+1,1\n", "Line 2: The ID on the chat platform has a wrong form: =1+1,1"],
    [new Uint8Array(20_100_000).fill(49), "The file has more than 20 MB"],
  ];
  for (const [file, sentence] of cases) {
    const answer = await importer.upload(file, { onConflict: "keep" });
    expect({ sentence, status: answer.status }).toEqual({ sentence, status: 400 });
    expect(wordsOf(answer)).toContain(sentence);
    expect(answer.text).toContain('value="keep" checked');
  }
  const none = await importer.post(imports);
  expect(wordsOf(none)).toContain("The upload cannot be read");
  // A browser sends a field without a file as a file without a name.
  const csrf = formOf(await importer.get(imports))["csrf"] ?? "";
  const parts = [
    `name="csrf"\r\n\r\n${csrf}`,
    `name="pid"\r\n\r\n${importer.pid}`,
    'name="onConflict"\r\n\r\nkeep',
    'name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n',
  ].map((part) => `--b\r\nContent-Disposition: form-data; ${part}\r\n`);
  const unchosen = await server.send(`POST ${imports}`, {
    headers: {
      cookie: `accountlink_session=${importer.owner.browser.cookies.get("accountlink_session")}`,
      "content-type": "multipart/form-data; boundary=b",
    },
    body: `${parts.join("")}--b--\r\n`,
  });
  expect([unchosen.status, wordsOf(unchosen)]).toEqual([
    400,
    expect.stringContaining("There is no file. Choose one."),
  ]);
  expect(unchosen.text).toContain('value="keep" checked');
  expect(await importer.links()).toEqual([]);
});

test("the import page offers to ignore a column that may contain verification times, or reads it", async () => {
  const importer = await makeImporter("100006");
  const file =
    "discord_id,roblox_id,is_verified,updated_at,note\n100001,1,false,2026-01-01,x\n100002,2,true,,y\n";
  const asked = await importer.upload(file);
  expect(asked.status).toBe(400);
  expect(asked.text).toContain('name="ignoreColumn" value="updated_at"');
  expect(asked.text).not.toContain('value="note"');
  const preview = locationOf(await importer.upload(file, { timeColumn: "Updated At" }));
  const shown = wordsOf(await importer.get(preview));
  for (const said of ["The link was not verified: 1 row", "Columns that are not read: note"])
    expect(shown).toContain(said);
});

test("the import page asks what each odd word means, in how many rows it stands, and reads the file so", async () => {
  const importer = await makeImporter("100009");
  const file = "discord_id,roblox_id,status\n100001,1,Maybe\n100002,2,maybe\n100003,3,idk\n100004,4,yes\n";
  const asked = await importer.upload(file);
  expect(asked.status).toBe(400);
  const shown = wordsOf(asked);
  for (const said of [
    "What “maybe” says in the column “status” of 2 rows",
    "What “idk” says in the column “status” of 1 row",
    "Ignore the column “status”",
  ])
    expect(shown).toContain(said);
  const answers = { word0: "maybe", meaning0: "yes", word1: "idk", meaning1: "skip" };
  const half = await importer.upload(file, { ...answers, meaning1: "" });
  expect(wordsOf(half)).toContain("What “idk” says in the column “status” of 1 row");
  const preview = wordsOf(await importer.get(locationOf(await importer.upload(file, answers))));
  for (const said of ["3 links of", "A word does not say whether the link was verified: 1 row"])
    expect(preview).toContain(said);
});

test("the import page asks how unclear times are read, unless other dates of the column tell", async () => {
  const importer = await makeImporter("100010");
  const header = "discord_id,roblox_id,linked_at\n";
  const file = `${header}100001,1,04/05/2021\n100002,2,04/06/2021\n100003,3,soon\n`;
  const asked = await importer.upload(file);
  expect(asked.status).toBe(400);
  const shown = wordsOf(asked);
  for (const said of [
    "Line 2: the column “linked_at” says “04/05/2021”, where day and month cannot be told apart",
    "“04/05/2021” in the column “linked_at” (2 rows): day and month cannot be told apart",
    "“soon” in the column “linked_at” (1 row) is not a date: the link is stored without one",
    "Month first 04/05/2021 is April 5",
    "Leave these dates out",
  ])
    expect(shown).toContain(said);
  const preview = await importer.get(
    locationOf(await importer.upload(file, { unclearTimes: "month-first" })),
  );
  expect(wordsOf(preview)).toContain("3 links of");
  expect(preview.text).toContain("2021-04-05T00:00:00.000Z");
  const unreadable = await importer.upload(`${header}100001,1,soon\n`, { unclearTimes: "never" });
  expect(unreadable.text).toContain('name="unclearTimes" value="unknown"');
  expect(unreadable.text).not.toContain('value="day-first"');
  const decided = await importer.upload(`${header}100001,1,04/05/2021\n100002,2,28/05/2021\n`);
  const sample = locationOf(decided);
  expect((await importer.get(sample)).text).toContain("2021-05-04T00:00:00.000Z");
  expect(await importer.run(sample)).toContain("2 links");
  expect((await importer.get(`/dashboard/links.csv?pid=${importer.pid}`)).text).toContain("2021-05-04T00:00");
});

test("an upload by a member of some communities leaves what waits for another one", async () => {
  const importer = await makeImporter("100030");
  const { owner } = importer;
  const { key } = await createKey(owner, { scope: "guild", guildId: guild });
  const preview = locationOf(await importer.upload("chatId,gameId\n100001,1\n"));
  const invited = { chatId: "100031", role: "admin", scopes: [key.pid] };
  dataOf(await owner.send("POST /dashboard/api/members", { body: invited }), 201);
  const member = await signInOwner(server, "100031");
  const account = "chat:100030";
  dataOf(await member.send("POST /dashboard/api/session/account", { body: { account } }));
  const { csrf = "" } = formOf(await member.browser.get(imports));
  for (const file of ["chatId,gameId\n100002,2\n", "no links"]) {
    const fields = { csrf, pid: textOf(key.pid), onConflict: "keep" };
    const refused = await uploadLinks(member.browser, fields, file);
    expect([refused.status, wordsOf(refused)]).toEqual([
      400,
      expect.stringContaining("Another file of your account is being imported"),
    ]);
    expect(refused.text).toContain('value="keep" checked');
  }
  expect(wordsOf(await importer.get(preview))).toContain("1 link of “links.csv” would be stored");
});

test("a preview says how many of the file's users are members, and waits for no silent platform", async () => {
  const importer = await makeImporter("100032");
  const { key } = await createKey(importer.owner, { scope: "guild", guildId: guild });
  const rows = [100_001, 100_002, 100_003, 200_001, 200_002, 100_001].map((id) => `${id},1,${guild}`);
  const file = `chatId,gameId,guild_id\n${[...rows, `100004,1,${emptyGuild}`].join("\n")}\n`;
  const pid = textOf(key.pid);
  const preview = locationOf(await importer.upload(file, { pid }));
  const { platform } = server;
  await platform.fail({ platform: "chat", mode: "slow", delayMs: 2_600, under: "/chat/api/guilds" });
  const waiting = await importer.get(preview);
  await platform.recover();
  expect(wordsOf(waiting)).toContain("5 links of “links.csv” would be stored");
  expect(wordsOf(waiting)).toContain(`The row is of another community: 1 row Line 8: 100004,1,${emptyGuild}`);
  expect(wordsOf(waiting)).toMatch(/The members of .* are being read: 0\./);
  expect(waiting.text).toContain("data-live");
  await expect
    .poll(async () => wordsOf(await importer.get(preview)), { timeout: 20_000 })
    .toMatch(/3 of the first 5 users in this file are members of Rook/);
  const shared = locationOf(await importer.upload(file));
  expect(wordsOf(await importer.get(shared))).not.toContain("in this file");
});

test("an import stops at the plan's number of links", async () => {
  const importer = await makeImporter("100007");
  const rows = Array.from({ length: most + 2 }, (_, index) => `${300_001 + index},1`);
  const preview = locationOf(await importer.upload(`chatId,gameId\n${rows.join("\n")}\n`));
  const left = "Your plan allows no more links: the import stops there, and 2 rows are left.";
  const shown = wordsOf(await importer.get(preview));
  expect(shown).toContain(left);
  expect(shown).toContain(`${most} links of “links.csv” would be stored`);
  expect(await importer.run(preview)).toContain(left);
  expect(await importer.links()).toHaveLength(most);
  const [, ...others] = (await importer.get(`${preview}/left_out.csv`)).text.trim().split("\n");
  expect(others.map((line) => line.split(",")[0])).toEqual([String(most + 2), String(most + 3)]);

  const { body } = await importer.owner.send("GET /dashboard/api/audit?action=links.imported");
  expect((body.data ?? {})["entries"]).toMatchObject([{ details: { inserted: most } }]);
});

test("where an account belongs to one member, an import counts the rows of others, and its undo leaves what was taken since", async () => {
  const importer = await makeImporter("100034");
  const { owner, pid } = importer;
  const link = (chatId: string, gameId: string) =>
    owner.send("PUT /dashboard/api/links", { body: { pid, chatId, gameId, reason: "By hand" } });
  for (const [chatId, gameId] of [
    ["200001", "1"],
    ["200002", "2"],
  ] as const)
    dataOf(await link(chatId, gameId));
  dataOf(await owner.send(`PATCH /dashboard/api/scopes/${pid}`, { body: { oneChatUser: true } }));
  const rows = ["200001,3", "200003,2", "200004,4", "200005,4"];
  const file = `chatId,gameId\n${rows.join("\n")}\n`;
  const preview = locationOf(await importer.upload(file, { onConflict: "replace" }));
  const counted =
    /Another user has this account on .*, and the community allows one: 2 rows .*200003,2.*200005,4/;
  expect(wordsOf(await importer.get(preview))).toMatch(counted);
  expect(await importer.run(preview)).toMatch(counted);
  expect((await importer.links()).toSorted()).toEqual(["200001,3", "200002,2", "200004,4"]);

  dataOf(await link("200006", "1"));
  expect(wordsOf(await importer.get(`${preview}/undo`))).toMatch(
    /1 link is removed\..* 1 other link .* stays\./,
  );
  await importer.post(`${preview}/undo`);
  await expect
    .poll(async () => (await importer.links()).toSorted(), { timeout: 10_000 })
    .toEqual(["200001,3", "200002,2", "200006,1"]);
});

test("the question before an undo counts a user who stands twice in the file once", async () => {
  const importer = await makeImporter("100035");
  const rows = ["200001,1", ...Array.from({ length: 1_000 }, () => "200002,1"), "200001,2"];
  const file = `chatId,gameId\n${rows.join("\n")}\n`;
  const undo = await importer.imported(file, { onConflict: "replace" });
  const asked = wordsOf(await importer.get(undo));
  expect(asked).toContain("2 links are removed.");
  expect(asked).not.toContain("changed since");
});

test("an import of which nothing is left is undone by no form, and by one when it is there again", async () => {
  const importer = await makeImporter("100033");
  const imported = (gameId: string) =>
    importer.imported(`chatId,gameId\n200021,${gameId}\n`, { onConflict: "replace" });
  const [first, second] = [await imported("1"), await imported("2")];
  const gone = `${imports}?gone=undo`;
  expect(locationOf(await importer.get(first))).toBe(gone);
  expect(locationOf(await importer.post(first))).toBe(gone);
  await importer.expectUndone(second, ["200021,1"]);
  await importer.expectUndone(first, []);
});

test("the undo of an import leaves what a corrected file has too, which is then of the later import", async () => {
  const importer = await makeImporter("100036");
  const shared = ["200001,1", "200002,2"];
  const wrong = await importer.imported(datedFile(...shared, "200003,9"));
  const corrected = await importer.imported(datedFile(...shared, "200004,4"));
  const asked = wordsOf(await importer.get(wrong));
  expect(asked).toMatch(/1 link is removed\..*2 other links .*later imports have them too, and stay\./);
  await importer.post(wrong);
  expect(await importer.links()).toEqual([...shared, "200004,4"]);
  expect(wordsOf(await importer.get(imports))).toMatch(/: 3 links .*: 1 link /);
  expect(wordsOf(await importer.get(corrected))).toContain("3 links are removed.");
  await importer.post(corrected);
  expect(await importer.links()).toEqual([]);
});

test("an import whose links a later one has too is undone, and then the later one, of which nothing else is left", async () => {
  const importer = await makeImporter("100038");
  const first = await importer.imported(datedFile("200001,1"));
  const second = await importer.imported(datedFile("200001,1", "200002,2"));
  const { owner, pid } = importer;
  dataOf(await owner.send("DELETE /dashboard/api/links", { body: { pid, chatId: "200002" } }));
  expect(wordsOf(await importer.get(first))).toContain("1 other link of the import");
  await importer.expectUndone(first, ["200001,1"]);
  await importer.expectUndone(second, []);
});

test("an undo beyond what imports may change in a day begins, and says that it goes on within a day", async () => {
  const importer = await makeImporter("100037");
  const imported = (gameId: number) => {
    const rows = Array.from({ length: most }, (_, index) => `${300_001 + index},${gameId}`);
    return importer.imported(`chatId,gameId\n${rows.join("\n")}\n`, { onConflict: "replace" });
  };
  await imported(1);
  await imported(2);
  const undo = await imported(3);
  const later = "What is left of this undo follows within a day";
  expect(wordsOf(await importer.get(undo))).toContain(later);
  expect(locationOf(await importer.post(undo))).toBe(undo);
  const begun = wordsOf(await importer.get(undo));
  expect(begun).toContain(`0 of ${most} links of “links.csv” are as they were before the import`);
  expect(begun).toContain(later);
  const listed = wordsOf(await importer.get(imports));
  expect(listed).toContain("Undoing the import");
  expect(listed).not.toContain("Undone");
});

test("an upload is visible only to its owner, and needs the CSRF token", async () => {
  const [owner, other] = [await makeImporter("100004"), await makeImporter("100005")];
  const preview = locationOf(await owner.upload("chatId,gameId\n100001,1\n"));
  for (const path of [preview, `${preview}/left_out.csv`]) {
    expect(locationOf(await other.get(path))).toBe(`${imports}?gone=1`);
  }
  expect(locationOf(await other.post(`${preview}/start`))).toBe(`${imports}?gone=1`);
  expect((await owner.upload("chatId,gameId\n100001,1\n", { csrf: "wrong" })).status).toBe(403);
  expect((await owner.post(`${preview}/start`, { csrf: "wrong" })).status).toBe(403);
  // An owner cannot upload links to the scope of another owner.
  expect((await other.upload("chatId,gameId\n100001,1\n", { pid: owner.pid })).status).toBeGreaterThanOrEqual(
    400,
  );
  const nobody = await server.send(`GET ${imports}`);
  expect([nobody.status, nobody.headers.location]).toEqual([303, "/dashboard/sign-in"]);
  expect(await owner.links()).toEqual([]);
});
