/**
 * `accountlink keys revoke`
 */
import { ApiKeys } from "@accountlink/core";
import { maskedKey } from "@accountlink/core/keys";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { keyArgument } from "../../cli/flags.ts";
import { answerWithLocation, managementLayer } from "../management_layer.ts";
import { operatorOrigin } from "../operator_origin.ts";
import { findKey } from "./find_key.ts";

export const revokeKeyCommand = Command.make("revoke", { id: keyArgument }, ({ id }) =>
  Effect.gen(function* () {
    yield* findKey(id, "revoke");
    const changed = yield* (yield* ApiKeys).setStatus(id, "revoked", operatorOrigin());
    const text = changed ? `Revoked ${maskedKey(id)}` : `${maskedKey(id)} was revoked before`;
    yield* answerWithLocation({ id, status: "revoked", changed }, (location) => `${text} in ${location}`);
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription("Revoke a key for good. A running server refuses it within a second."),
  Command.withExamples([
    { command: "accountlink keys revoke Aa0Bb1Cc2Dd3", description: "Revoke a key by its id" },
  ]),
);
