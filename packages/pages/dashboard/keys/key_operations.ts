/** What members do with keys, by JSON and by the forms of the pages. */
import { InvalidParameter, OwnedKeys, type ScopeTarget, targetOfGuild } from "@accountlink/core";
import { allows, type MemberRole } from "@accountlink/core/accounts";
import { Forbidden } from "@accountlink/core/errors";
import type { KeyAccess, KeyDetails, OwnedKeyUpdate } from "@accountlink/core/keys";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { DashboardKeys } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation, type OwnerInput } from "../api_pipeline.ts";
import { given } from "../form_values.ts";

export const makeKeyOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const keys = yield* OwnedKeys;
  const limits = yield* Limits;
  const toJson = (key: KeyDetails) => DashboardKeys.keyJson(key, quotaOf(key.limits, limits[key.tier]));
  const keyAnswer = (key: KeyDetails) => ({ key: toJson(key) });
  const issuedAnswer = ({ token, key }: { readonly token: string; readonly key: KeyDetails }) => ({
    token,
    ...keyAnswer(key),
  });

  return {
    list: operation(
      DashboardKeys.getKeys,
      ({ owner }) => keys.list(owner),
      (listed) => ({ keys: listed.map(toJson) }),
    ),

    create: operation(
      DashboardKeys.createKey,
      function* ({ owner, role, values }) {
        yield* requireAccess(role, values.access);
        return yield* keys.create(owner, yield* ownedKeyOf(values));
      },
      issuedAnswer,
    ),

    update: operation(
      DashboardKeys.patchKey,
      function* ({ owner, role, values: { id, ...update } }) {
        const key = yield* keys.find(owner, id);
        const changed = given(update);
        if (changed.access !== key.access) yield* requireAccess(role, changed.access);
        if (key.access === "manage" && loosens(key, changed)) yield* requireAccess(role, "manage");
        return yield* keys.update(owner, id, changed);
      },
      keyAnswer,
    ),

    revoke: operation(
      DashboardKeys.revokeKey,
      ({ owner, values }) => keys.revoke(owner, values.id),
      keyAnswer,
    ),

    rotate: operation(
      DashboardKeys.rotateKey,
      function* ({ owner, role, values: { id, graceSeconds } }) {
        yield* requireAccess(role, (yield* keys.find(owner, id)).access);
        return yield* keys.rotate(owner, id, graceSeconds);
      },
      issuedAnswer,
    ),
  };
});

/** Fails unless the member may choose the access for a key: only owners make keys that manage communities. */
const requireAccess = (role: MemberRole, access: KeyAccess | undefined) =>
  access === "manage" && !allows(role, "owner") ? new Forbidden({ reason: "role" }) : Effect.void;

const isWithout = (list: ReadonlyArray<string> = [], others: ReadonlyArray<string> = []): boolean =>
  list.some((each) => !others.includes(each));

/**
 * Returns whether an update gives a key something back that it lost, or could lose: another access would let the next
 * update do so. An admin may only narrow a key that manages communities.
 */
const loosens = (
  key: KeyDetails,
  { access, status, expiresAt, allowIps, denyIps, redirectOrigins }: OwnedKeyUpdate,
): boolean => {
  return (
    (access !== undefined && access !== key.access) ||
    (status === "active" && key.status !== "active") ||
    (expiresAt !== undefined && (expiresAt ?? Infinity) > (key.expiresAt ?? Infinity)) ||
    (allowIps !== undefined &&
      key.allowIps.length > 0 &&
      (allowIps.length === 0 || isWithout(allowIps, key.allowIps))) ||
    (denyIps !== undefined && isWithout(key.denyIps, denyIps)) ||
    isWithout(redirectOrigins, key.redirectOrigins)
  );
};

type NewKeyValues = OwnerInput<typeof DashboardKeys.createKey.parameters>["values"];

const ownedKeyOf = (values: NewKeyValues) => {
  const { name, access, allowIps, denyIps, redirectOrigins, expiresAt } = values;
  const chosen = given({ access, allowIps, denyIps, redirectOrigins, expiresAt });
  return Effect.map(targetOf(values), (target) => ({ ...chosen, name, target }));
};

/** The scope of a new key. The parameter reader has already refused a guild scope without a guild ID. */
export const targetOf = ({
  scope,
  guildId,
}: Pick<NewKeyValues, "scope" | "guildId">): Effect.Effect<ScopeTarget, InvalidParameter> =>
  scope === "guild" || guildId === null
    ? Effect.succeed(targetOfGuild(guildId))
    : Effect.fail(InvalidParameter.one("guildId", "not taken with the scope global"));
