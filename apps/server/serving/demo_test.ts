import { statSync } from "node:fs";
import { join } from "node:path";
import { decodeFixture } from "@accountlink/core";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { describe, expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { makeFolder } from "../commands/test_folder.ts";
import { demoFixture, demoIntroduction } from "./demo.ts";

describe("demoFixture", () => {
  it.effect("is made once for a folder, with keys of its own", () =>
    Effect.gen(function* () {
      const folder = yield* makeFolder;
      const made = yield* demoFixture(folder);
      expect(statSync(join(folder, "fixture.json")).mode & 0o777).toBe(0o600);
      expect(yield* demoFixture(folder)).toBe(made);
      const other = yield* demoFixture(yield* makeFolder);
      const keysOf = (text: string) =>
        Effect.map(decodeFixture(text), ({ keys }) => keys.map(({ key }) => key));
      const [here, there] = [yield* keysOf(made), yield* keysOf(other)];
      expect(new Set([...here, ...there]).size).toBe(4);
    }).pipe(Effect.provide(NodeServices.layer)),
  );

  it.effect("holds what its introduction asks for", () =>
    Effect.gen(function* () {
      const text = yield* demoFixture(yield* makeFolder);
      const { keys, links, platform } = yield* decodeFixture(text);
      const introduction = demoIntroduction("http://127.0.0.1:8080", text);
      for (const { key } of keys) expect(introduction).toContain(key);
      const chatIdsInGuild = platform.guilds.flatMap(({ members }) => members.map(({ chatId }) => chatId));
      for (const { chatId, gameId } of links) {
        expect(chatIdsInGuild).toContain(chatId);
        expect(platform.gameUsers.map(({ id }) => id)).toContain(gameId);
      }
      const [, askedChat] = /chatId=(\d+)/.exec(introduction) ?? [];
      const [, askedGame] = /gameId=(\d+)/.exec(introduction) ?? [];
      expect(links.map(({ chatId }) => chatId)).toContain(askedChat);
      expect(links.map(({ gameId }) => gameId)).toContain(askedGame);
    }).pipe(Effect.provide(NodeServices.layer)),
  );
});
