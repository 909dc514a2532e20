import { InvalidParameter } from "@accountlink/core";
import { MissingParameter } from "@accountlink/core/errors";
import {
  flag,
  LinksV1,
  LookupsV2,
  type Parameters,
  premiumFlag,
  type RawValues,
  type Route,
  WritesV2,
} from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { Result } from "effect";
import { parameterReader, premiumTest } from "./parameters.ts";

const read = <P extends Parameters>(route: Route<P>, raw: RawValues, scope: "global" | "guild" = "global") =>
  parameterReader(route)(raw, scope, []);
const refusal = <P extends Parameters>(
  route: Route<P>,
  raw: RawValues,
  scope: "global" | "guild" = "global",
) => Result.getOrThrow(Result.flip(read(route, raw, scope)));

describe("parameters of a query", () => {
  const route = LookupsV2.getChat;

  it("are decoded, with fallbacks for those left out", () => {
    assert.deepEqual(Result.getOrThrow(read(route, { chatId: "10001", other: ["a", "b"] })), {
      chatId: "10001",
      guildId: null,
      resolved: false,
    } as never);
    const values = Result.getOrThrow(read(route, { chatId: "10001", guildId: "70001", resolved: "true" }));
    assert.strictEqual(values.resolved, true);
  });

  it("are reported together when they are missing, before any that are invalid", () => {
    const missing = refusal(route, { chatId: "", resolved: "maybe" }, "guild");
    assert.instanceOf(missing, MissingParameter);
    assert.deepStrictEqual(missing.details, { parameters: ["chatId", "guildId"] });
  });

  it.each([
    [{ chatId: "1" }, "chatId", "expected 5 to 32 digits"],
    [{ chatId: ["10001", "10001"] }, "chatId", "given more than once"],
    [{ chatId: "10001", resolved: "1" }, "resolved", "expected true or false"],
    [{ chatId: "10001", guildId: "x" }, "guildId", "expected 5 to 32 digits"],
  ])("refuse %j", (raw, name, reason) => {
    const invalid = refusal(route, raw);
    assert.instanceOf(invalid, InvalidParameter);
    assert.deepStrictEqual(invalid.details, { parameters: [{ name, reason }] });
  });

  it.each(["70001", "", null, ["70001", "70002"]])(
    "refuse a guild that would narrow what a global key deletes: %j",
    (guildId) => {
      for (const [deletion, others] of [
        [LinksV1.resetDatabase, {}],
        [WritesV2.deleteData, { confirm: true }],
      ] as const) {
        const invalid = refusal(deletion as Route, { ...others, guildId });
        assert.deepStrictEqual(invalid.details, {
          parameters: [{ name: "guildId", reason: "not taken with a global key" }],
        });
      }
    },
  );

  it("take a guild-scoped key's own guild for a delete of its scope", () => {
    assert.isTrue(Result.isSuccess(read(LinksV1.resetDatabase, {}, "guild")));
    assert.instanceOf(refusal(WritesV2.deleteData, { confirm: true }, "guild"), MissingParameter);
  });
});

describe("parameters that need a Premium key", () => {
  it("are found by their flag, not by name", () => {
    const asksForPremium = premiumTest({
      ...LookupsV2.getChat,
      parameters: { profiles: premiumFlag("Whether to add profiles"), resolved: flag("Another") },
    });
    assert.isTrue(asksForPremium({ profiles: true, resolved: false }));
    assert.isFalse(asksForPremium({ profiles: false, resolved: true }));
  });
});

describe("parameters of a body", () => {
  it.each([
    [WritesV2.patchGame, { chatId: 10_001, gameId: "1" }, "INVALID_PARAMETER"],
    [WritesV2.patchGame, { chatId: null, gameId: "1" }, "MISSING_PARAMETER"],
    [WritesV2.patchGame, { chatId: ["10001"], gameId: "1" }, "INVALID_PARAMETER"],
    [LookupsV2.bulkChat, { chatIds: "10001" }, "INVALID_PARAMETER"],
    [LookupsV2.bulkChat, { chatIds: ["10001"], resolved: "true" }, "INVALID_PARAMETER"],
    [LookupsV2.bulkChat, { chatIds: [10_001] }, "INVALID_BODY"],
    [WritesV2.deleteData, {}, "INVALID_BODY"],
    [WritesV2.deleteData, { confirm: "true" }, "INVALID_BODY"],
    [WritesV2.deleteData, { confirm: false }, "INVALID_BODY"],
  ])("refuse what is not of their type", (route, raw, code) => {
    assert.strictEqual(refusal(route as Route, raw).code, code);
  });

  it("take the JSON values", () => {
    const values = Result.getOrThrow(read(LookupsV2.bulkChat, { chatIds: ["x", "x"], resolved: true }));
    assert.deepStrictEqual(values, { chatIds: ["x", "x"], guildId: null, resolved: true });
  });
});
