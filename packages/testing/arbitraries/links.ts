import type { DataScope, Link, ScopeTarget } from "@accountlink/core";
import { gameProofs, type LinkProof } from "@accountlink/core/links";
import { type Arbitrary, constant, constantFrom, integer, oneof, record, tuple } from "fast-check";
import { chatId, gameId, guildId, pid } from "./ids.ts";
import { millis, name } from "./texts.ts";

export const scopeTarget: Arbitrary<ScopeTarget> = oneof(
  constant<ScopeTarget>({ kind: "global" }),
  record({ kind: constant("guild"), guildId }),
);

export const dataScope: Arbitrary<DataScope> = tuple(scopeTarget, record({ pid, account: name })).map(
  ([target, scope]) => ({ ...target, ...scope }),
);

/** @internal */
export const linkProof: Arbitrary<LinkProof> = constantFrom(...gameProofs, "hand", "import", null);

/**
 * A link. Its time of last verification is not before the time of linking.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { guildOf } from "@accountlink/core";
 * import { isLinked } from "@accountlink/core/links";
 *
 * fc.assert(fc.property(Arbitrary.link, isLinked));
 * fc.assert(
 *   fc.property(Arbitrary.dataScope, (scope) => (guildOf(scope) === null) === (scope.kind === "global")),
 * );
 * ```
 */
export const link: Arbitrary<Link> = record({
  chatId,
  gameId,
  linkVersion: integer({ min: 1, max: 1_000 }),
  times: tuple(millis, millis),
  proof: linkProof,
}).map(({ times, ...rest }) => ({
  ...rest,
  linkedAt: Math.min(...times),
  lastVerifiedAt: Math.max(...times),
}));
