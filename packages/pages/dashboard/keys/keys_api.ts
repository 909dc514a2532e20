import { InvalidParameter, OwnedKeys, type ScopeTarget } from "@accountlink/core";
import { allows, type Membership } from "@accountlink/core/accounts";
import { Forbidden } from "@accountlink/core/errors";
import type { KeyAccess, KeyDetails } from "@accountlink/core/keys";
import { Limits, quotaOf } from "@accountlink/core/limits";
import { DashboardKeys } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeApiPipeline, type OwnerInput } from "../api_pipeline.ts";

export const keysApi = Effect.gen(function* () {
  const { bind } = yield* makeApiPipeline;
  const keys = yield* OwnedKeys;
  const limits = yield* Limits;
  const toJson = (key: KeyDetails) => DashboardKeys.keyJson(key, quotaOf(key.limits, limits[key.tier]));

  return [
    bind(DashboardKeys.getKeys, ({ owner }) =>
      Effect.map(keys.list(owner.account), (listed) => ({ data: { keys: listed.map(toJson) } })),
    ),

    bind(DashboardKeys.createKey, function* ({ owner, member, values }) {
      yield* requireAccess(member, values.access);
      const { token, key } = yield* keys.create(owner, yield* ownedKeyOf(values));
      return { status: 201 as const, data: { token, key: toJson(key) } };
    }),

    bind(DashboardKeys.patchKey, function* ({ owner, member, values: { id, ...update } }) {
      yield* requireAccess(member, update.access);
      return { data: { key: toJson(yield* keys.update(owner, id, given(update))) } };
    }),

    bind(DashboardKeys.revokeKey, ({ owner, values }) =>
      Effect.map(keys.revoke(owner, values.id), (key) => ({ data: { key: toJson(key) } })),
    ),

    bind(DashboardKeys.rotateKey, function* ({ owner, member, values: { id, graceSeconds } }) {
      const { access } = yield* keys.find(owner.account, id);
      yield* requireAccess(member, access);
      const { token, key } = yield* keys.rotate(owner, id, graceSeconds);
      return { data: { token, key: toJson(key) } };
    }),
  ];
});

/** Fails unless the member may choose the access for a key: only owners make keys that manage communities. */
export const requireAccess = ({ role }: Pick<Membership, "role">, access: KeyAccess | undefined) =>
  access === "manage" && !allows(role, "owner") ? new Forbidden({ reason: "role" }) : Effect.void;

type Given<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

export const given = <Values extends object>(values: Values): Given<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<Values>;

type NewKeyValues = OwnerInput<typeof DashboardKeys.createKey.parameters>["values"];

export const ownedKeyOf = (values: NewKeyValues) => {
  const { name, access, allowIps, denyIps, redirectOrigins, expiresAt } = values;
  const chosen = given({ access, allowIps, denyIps, redirectOrigins, expiresAt });
  return Effect.map(targetOf(values), (target) => ({ ...chosen, name, target }));
};

/** The scope of a new key. The parameter reader has already refused a guild scope without a guild ID. */
export const targetOf = ({
  scope,
  guildId,
}: Pick<NewKeyValues, "scope" | "guildId">): Effect.Effect<ScopeTarget, InvalidParameter> => {
  if (scope === "guild" && guildId !== null) return Effect.succeed({ kind: "guild", guildId });
  return guildId === null
    ? Effect.succeed({ kind: "global" })
    : Effect.fail(InvalidParameter.one("guildId", "not taken with the scope global"));
};
