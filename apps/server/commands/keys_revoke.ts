/**
 * `accountlink keys revoke`
 */
import { ApiKeys, maskedKey } from "@accountlink/core";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { findKey } from "../internal/find_key.ts";
import { keyArgument } from "../internal/flags.ts";
import { operatorOrigin } from "../internal/operator.ts";
import { answer } from "../internal/output.ts";
import { managementLayer } from "../management.ts";
import { Place } from "../place.ts";

export const revokeKeyCommand = Command.make("revoke", { id: keyArgument }, ({ id }) =>
  Effect.gen(function* () {
    yield* findKey(id, "revoke");
    const revoked = yield* (yield* ApiKeys).setStatus(id, "revoked", operatorOrigin());
    const place = yield* Place;
    yield* answer(
      { id, status: "revoked", changed: revoked, ...place.json },
      `${revoked ? `Revoked ${maskedKey(id)}` : `${maskedKey(id)} was revoked before`} in ${place.text}`,
    );
  }).pipe(Effect.provide(managementLayer("refuse"))),
).pipe(
  Command.withDescription("Revoke a key for good. A running server refuses it within a second."),
  Command.withExamples([
    { command: "accountlink keys revoke Aa0Bb1Cc2Dd3", description: "Revoke a key by its id" },
  ]),
);
