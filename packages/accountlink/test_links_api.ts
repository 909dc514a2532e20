import { describe, expect, it } from "vitest";
import {
  Conflict,
  Forbidden,
  ImportEnded,
  InvalidParameter,
  LinkNotFound,
  UnreadableLinkFile,
  WrongLines,
} from "./mod.ts";
import { collect, guildId, type TestService } from "./test_service.ts";

const fileOf = (text: string) =>
  async function* () {
    yield new TextEncoder().encode(text);
  };

const textOfLinks = async function* () {
  yield "chatId,gameId\n100001,1\n";
};

export const linksApiSuite = (service: () => TestService): void => {
  describe("links", () => {
    it("sets, finds in both directions, moves and deletes links", async () => {
      const { newScope } = service();
      const { links } = await newScope();
      expect(await links.get("100001")).toBeNull();
      expect(await links.byGame("1")).toBeNull();
      expect(await links.set("100001", "1")).toEqual({
        chatId: "100001",
        gameId: "1",
        previousGameId: null,
        updated: true,
      });
      expect(await links.get("100001")).toMatchObject({ chatId: "100001", gameId: "1" });
      expect(await links.set("100002", "1")).toMatchObject({ previousGameId: null });
      expect(await links.byGame("1")).toMatchObject({
        chatIds: expect.arrayContaining(["100002", "100001"]),
        count: 2,
      });
      expect(await links.verification("100001")).toMatchObject({ linked: true, linkVersion: 1 });
      expect(await links.get("100001", { resolved: true })).toMatchObject({
        resolved: { game: { id: "1", username: "player 1", badges: null }, chat: null },
      });
      expect(await links.move("100001", "100003")).toMatchObject({ chatId: "100003", gameId: "1" });
      await expect(links.move("100003", "100002")).rejects.toBeInstanceOf(Conflict);
      expect(await links.delete("100003")).toMatchObject({ removedGameId: "1" });
      await expect(links.delete("100003")).rejects.toBeInstanceOf(LinkNotFound);
      expect((await collect(links.all())).map(({ chatId }) => chatId)).toEqual(["100002"]);
      expect(await links.deleteAll()).toBe(3);
      expect(await collect(links.all())).toEqual([]);
    });

    it("exports links to a file and imports the file into another scope", async () => {
      const { newScope } = service();
      const [from, to] = [await newScope(), await newScope()];
      await from.links.set("100001", "1");
      await from.links.set("100002", "2");
      for (const format of ["csv", "ndjson"] as const) {
        const text = (await collect(from.links.export(format))).join("");
        const file = fileOf(text);
        const options = { format, onConflict: "replace", actor: "ada" } as const;
        expect(await to.links.import(file, options)).toMatchObject({ links: 2 });
        expect(await to.links.import(file, options)).toMatchObject({ links: 2, unchanged: 2 });
        // A request of Node's HTTP server has a signal.
        const request = Object.assign(file(), { signal: AbortSignal.abort() });
        expect(await to.links.import(request, options)).toMatchObject({ unchanged: 2 });
        expect(await collect(to.links.all())).toEqual(await collect(from.links.all()));
      }
      const [entry] = await collect(to.audit.entries({ action: "links.imported" }));
      expect(entry).toMatchObject({ actor: { type: "operator", id: "ada" }, details: { inserted: 2 } });
    });

    it("imports no link of a file that has a wrong line", async () => {
      const { links } = await service().newScope();
      await expect(links.import(fileOf("chatId,gameId\n100001,1\n1,1\n"), { strict: true })).rejects.toEqual(
        new WrongLines({
          count: 1,
          problems: [
            { line: 3, reason: "chat_id", problem: 'chatId is "1", expected 5 to 32 digits', text: "1,1" },
          ],
          stored: 0,
        }),
      );
      await expect(links.import(fileOf("chat\n"), { format: "csv" })).rejects.toBeInstanceOf(
        UnreadableLinkFile,
      );
      await expect(links.import(broken, { format: "csv" })).rejects.toMatchObject({
        code: "INTERNAL_ERROR",
        cause: new Error("no such file"),
      });
      for (const wrong of [textOfLinks, () => [new Uint8Array(9)], () => undefined]) {
        await expect(links.import(wrong as never)).rejects.toMatchObject({
          code: "INVALID_PARAMETER",
          details: { parameters: [{ name: "file", reason: "expected an async iterable of Uint8Array" }] },
        });
      }
      expect(await collect(links.all())).toEqual([]);
    });

    it("ends an import when the data of its scope is deleted", async () => {
      const { links } = await service().newScope();
      const pipe = async function* () {
        yield* fileOf(`chatId,gameId\n${"100001,1\n".repeat(1_500)}`)();
        await links.deleteAll();
        yield* fileOf("100002,1\n".repeat(1_500))();
      };
      const options = { format: "csv", givesWay: true } as const;
      await expect(links.import(pipe(), options)).rejects.toBeInstanceOf(ImportEnded);
      expect(await collect(links.all())).toEqual([]);
    });

    it("finds links in bulk, in the order of the inputs", async () => {
      const { newScope } = service();
      const { links } = await newScope();
      const ids = Array.from({ length: 60 }, (_, index) => `${100_001 + index}`);
      for (const id of ids.slice(0, 55)) await links.set(id, "1");
      const wanted = [...ids, "100001"];
      const found = await links.getMany(wanted);
      expect(found.map((link) => link?.chatId ?? null)).toEqual(
        wanted.map((id) => (Number(id) <= 100_055 ? id : null)),
      );
      expect((await links.byGameMany(["2", "1"])).map((game) => game?.count ?? null)).toEqual([null, 55]);
      await expect(links.getMany(["100001", "x"])).rejects.toBeInstanceOf(InvalidParameter);
    });

    it("hides links from other scopes", async () => {
      const { al, other, newScope } = service();
      const [acme, guild] = [await newScope(), await al.scope({ account: "acme", guildId })];
      await guild.links.set("100001", "2");
      expect(await acme.links.get("100001")).toBeNull();
      expect(await (await other.scope({ account: "acme", guildId })).links.get("100001")).toMatchObject({
        gameId: "2",
      });
      await expect(guild.links.set("100200", "1")).rejects.toMatchObject({
        details: { reason: "user_not_in_guild" },
      });
      await expect(acme.links.get("100001", { guildId: "700000000000000002" })).rejects.toBeInstanceOf(
        Forbidden,
      );
      expect(await guild.links.getMany(["100001", "100200"])).toMatchObject([{ gameId: "2" }, null]);
    });
  });

  describe("users", () => {
    it("exports and erases a user", async () => {
      const { al, newScope } = service();
      const { links, audit } = await newScope();
      await links.set("100090", "1");
      const found = await al.users.export("100090");
      expect(found.records.map(({ record }) => record.gameId)).toContain("1");
      expect(await al.users.erase("100090")).toMatchObject({ records: 1 });
      expect(await links.get("100090")).toBeNull();
      expect(JSON.stringify(await collect(audit.entries()))).not.toContain("100090");
    });
  });

  describe("the audit log", () => {
    it("names the chat user who asked for a change, as the source of the event too", async () => {
      const { links, audit, events } = await service().newScope();
      const cursor = await events.now();
      const chatId = "100001";
      await links.set(chatId, "1");
      await links.delete(chatId, { actor: { chatId } });
      await expect(links.set(chatId, "1", { actor: { chatId: "abc" } })).rejects.toMatchObject({
        details: {
          parameters: [
            { name: "actor", reason: "expected text, or an object with a chatId of 5 to 32 digits" },
          ],
        },
      });
      const [removed, set] = await collect(audit.entries());
      expect([set?.actor, removed?.actor]).toEqual([
        { type: "operator", id: "embedder" },
        { type: "user", id: chatId },
      ]);
      const sources: Array<unknown> = [];
      // No types are all types, as of webhooks.
      for await (const { data } of events.follow({ cursor, types: [] })) {
        sources.push("source" in data && data.source);
        if (sources.length === 2) break;
      }
      expect(sources).toEqual(["operator", "user"]);
    });

    it("reads audit entries newest first, only as far as they are consumed", async () => {
      const { newScope } = service();
      const { links, audit } = await newScope();
      await links.set("100001", "1", { actor: "ada \uD83D\0" });
      for (let game = 2; game <= 110; game++) await links.set("100001", `${game % 90}`);
      const entries = await collect(audit.entries({ action: "link.set" }));
      expect(entries).toHaveLength(110);
      // Characters that cannot be stored are replaced.
      expect(entries.at(-1)).toMatchObject({ actor: { type: "operator", id: "ada \uFFFD\uFFFD" } });
      for await (const entry of audit.entries()) {
        expect(entry).toMatchObject({ actor: { id: "embedder" }, details: { gameId: "20" } });
        break;
      }
    });
  });
};

/** A file that fails before its end. */
const broken = async function* () {
  yield new TextEncoder().encode("chatId,gameId\n");
  throw new Error("no such file");
};
