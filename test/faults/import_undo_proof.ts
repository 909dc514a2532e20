/** The undo of an import goes on on another node when its node is killed, and after a second without Postgres. */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { signIn, until } from "../load/neighbours/world.ts";
import { makeFixtures } from "../support/fixtures.ts";
import { formOf, locationOf, openBrowser } from "../support/flow_browser.ts";
import { listOf, textOf } from "../support/http.ts";
import { uploadLinks } from "../support/link_upload.ts";
import { startService, whyNoService } from "./service.ts";

const missing = await whyNoService();
const owner = "100001";
const links = 20_000;

test.skipIf(missing !== null)(
  `the undo of an import survives a killed node and a killed Postgres ${missing ?? ""}`,
  () =>
    Effect.gen(function* () {
      const fixtures = makeFixtures();
      fixtures.account({ name: "importer", chatId: owner });
      const key = fixtures.key({ account: "importer" });
      const { nodes, storage } = yield* startService({ fixture: fixtures.fixture });
      const [one, two, three] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]];
      let asked = one;
      const browser = openBrowser(() => asked.url(), "198.18.0.1");
      yield* Effect.addFinalizer(() => Effect.sync(browser.close));
      yield* Effect.promise(() => signIn(browser, owner));

      const isOver = async (path: string) => {
        const { status, text } = await browser.get(path).catch(() => ({ status: 0, text: "" }));
        return status === 200 && !text.includes("<progress");
      };
      const hasLink = async () => {
        const { status } = await asked.send(`GET /v2/chat?chatId=${200_000 + links}`, { key });
        return status === 200;
      };
      const send = async (path: string) =>
        browser.post(path, { csrf: formOf(await browser.get(path))["csrf"] ?? "" });

      /** Imports the links, begins to undo the import, and returns the page of the undo. */
      const beginUndo = async () => {
        const { csrf = "" } = formOf(await browser.get("/dashboard/imports"));
        const { body } = await browser.get("/dashboard/api/scopes");
        const pid = textOf(listOf(body.data?.["scopes"])[0]?.["pid"]);
        const lines = Array.from({ length: links }, (_, index) => `${200_001 + index},1`);
        const file = `discordId,robloxId\n${lines.join("\n")}\n`;
        const uploaded = locationOf(await uploadLinks(browser, { csrf, pid, onConflict: "replace" }, file));
        await until(() => isOver(uploaded), "the check of a file");
        await browser.post(`${uploaded}/start`, { csrf: formOf(await browser.get(uploaded))["csrf"] ?? "" });
        await until(async () => (await browser.get(uploaded)).text.includes("/undo"), "an import");
        expect(await hasLink()).toBe(true);
        await send(`${uploaded}/undo`);
        expect(await isOver(`${uploaded}/undo`)).toBe(false);
        return `${uploaded}/undo`;
      };

      const first = yield* Effect.promise(beginUndo);
      yield* one.kill;
      asked = two;
      expect(yield* Effect.promise(hasLink)).toBe(true);
      yield* Effect.promise(() => until(() => isOver(first), "the undo of a killed node"));
      expect(yield* Effect.promise(hasLink)).toBe(false);

      asked = three;
      const second = yield* Effect.promise(beginUndo);
      yield* storage.kill;
      yield* Effect.sleep("1 second");
      yield* storage.restart;
      yield* Effect.promise(() => until(() => isOver(second), "the undo after an outage"));
      expect(yield* Effect.promise(hasLink)).toBe(false);
      expect(three.output()).toContain("The undo of an import waits");
    }).pipe(Effect.scoped, Effect.runPromise),
);
