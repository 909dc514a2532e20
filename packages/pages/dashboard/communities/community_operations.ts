import { guildOf } from "@accountlink/core";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { makeCommunityState, OwnedAccounts, type OwnedScope, OwnedScopes } from "@accountlink/core/owners";
import { timeOrNull } from "@accountlink/core/timestamp";
import { DashboardCommunities } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation } from "../api_pipeline.ts";
import { given } from "../form_values.ts";
import { makeScopeNames } from "./community.ts";
import { makeDeletionNames, requireConfirmed } from "./deletion.ts";

/** What members and keys do with communities, by JSON and by the forms of the pages. */
export const makeCommunityOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const scopes = yield* OwnedScopes;
  const accounts = yield* OwnedAccounts;
  const nameOf = yield* makeScopeNames;
  const stateOf = yield* makeCommunityState;
  const accountNames = yield* makeDeletionNames;

  const toJson = Effect.fnUntraced(function* ({ scope, settings, keys }: OwnedScope) {
    return {
      pid: scope.pid,
      scope: scope.kind,
      guildId: guildOf(scope),
      name: yield* nameOf(scope),
      links: yield* scopes.counts.recentOf(scope.pid),
      keys,
      settings,
    };
  });

  return {
    list: operation(DashboardCommunities.getScopes, function* ({ owner }) {
      const listed = yield* scopes.listCounted(owner);
      return { scopes: yield* forEachLimited(listed, 8, toJson) };
    }),

    find: operation(DashboardCommunities.getScope, function* ({ owner, values: { pid } }) {
      return { scope: yield* toJson(yield* scopes.owned(owner, pid)) };
    }),

    state: operation(DashboardCommunities.getCommunity, function* ({ owner, values: { pid } }) {
      const { scope, lastSweepAt, ...state } = yield* stateOf(owner, pid);
      const community = { ...state, name: yield* nameOf(scope), lastSweepAt: timeOrNull(lastSweepAt) };
      return { community };
    }),

    update: operation(DashboardCommunities.patchScope, function* ({ owner, values: { pid, ...update } }) {
      return { scope: yield* toJson(yield* scopes.update(owner, pid, given(update))) };
    }),

    deleteData: operation(
      DashboardCommunities.deleteScope,
      function* ({ owner, signIn, values: { pid, confirm, keepBlocks } }) {
        const { scope, settings } = yield* scopes.managed(owner, pid);
        const guildId = guildOf(scope);
        const known = signIn.guilds?.find(({ id }) => id === guildId)?.name ?? null;
        const names = [known, yield* nameOf(scope), guildId, settings.displayName];
        yield* requireConfirmed(confirm, [...names, ...(yield* accountNames(owner.account))]);
        return { pid: scope.pid, deletedRecords: yield* accounts.deleteData(owner, pid, keepBlocks) };
      },
      ({ deletedRecords }) => ({ deletedRecords }),
    ),
  };
});
