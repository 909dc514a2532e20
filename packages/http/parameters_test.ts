import { InvalidParameter, MissingParameter } from "@accountlink/core";
import { LookupsV2, type Parameters, type Route, RoutesV1, WritesV2 } from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { Result } from "effect";
import { parameterReader, type RawValues } from "./parameters.ts";

const read = <P extends Parameters>(route: Route<P>, raw: RawValues, scope: "global" | "guild" = "global") =>
  parameterReader(route)(raw, scope, []);
const refusal = <P extends Parameters>(
  route: Route<P>,
  raw: RawValues,
  scope: "global" | "guild" = "global",
) => Result.getOrThrow(Result.flip(read(route, raw, scope)));

describe("parameters of a query", () => {
  const route = LookupsV2.getChat;

  it("are read by their rules, and what may be left out has its value", () => {
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

  it("refuse a guild that would narrow what a global key deletes", () => {
    assert.instanceOf(refusal(RoutesV1.resetDatabase, { guildId: "70001" }), InvalidParameter);
    assert.isTrue(Result.isSuccess(read(RoutesV1.resetDatabase, {}, "guild")));
    assert.instanceOf(refusal(WritesV2.deleteData, { confirm: true }, "guild"), MissingParameter);
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
