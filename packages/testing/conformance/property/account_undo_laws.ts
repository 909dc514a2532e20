/** The law of undo for an account, its team, its keys and its webhooks. */
import type { ChatId } from "@accountlink/core";
import type { MemberChange, MemberRole } from "@accountlink/core/accounts";
import type { KeyUpdate, UpdateAccount } from "@accountlink/core/keys";
import { Effect, Option, Struct } from "effect";
import * as FastCheck from "fast-check";
import { makeWebhook } from "../../mod.ts";
import { index, type World } from "./operation.ts";
import { nth } from "./subjects.ts";
import { type Law, law } from "./undo_law.ts";
import { webhookFields } from "./worker_operations.ts";

const { boolean, constantFrom, record } = FastCheck;

const role = constantFrom<MemberRole>("owner", "admin", "moderator");

const changeMember = ({ members, account, write }: World, change: MemberChange) =>
  members.change({ ...write, account: account.name, change });

const memberOf = ({ members, account }: World, chatId: ChatId) =>
  Effect.map(members.list(account.name), (all) => all.find((member) => member.chatId === chatId));

const rename = ({ keys, account, write }: World, displayName: string) =>
  keys.renameAccount({ ...write, name: account.name, displayName });

export const accountUndoLaws = {
  "status or tier of an account": law({
    input: record({
      update: constantFrom<UpdateAccount["update"]>(
        { status: "suspended" },
        { status: "active" },
        { tier: "premium" },
      ),
    }),
    act: ({ keys, write, account }, { update }) =>
      Effect.gen(function* () {
        const before = Option.getOrThrow(yield* keys.findAccount(account.name));
        yield* keys.updateAccount({ ...write, name: account.name, update });
        return "tier" in update ? { tier: before.tier } : { status: before.status };
      }),
    undo: ({ keys, write, account }, _, update) =>
      keys.updateAccount({ ...write, name: account.name, update }),
    parts: ["account"],
  }),

  "name an account": law({
    prepare: (world) => rename(world, `first ${world.account.name}`),
    input: record({ name: constantFrom("second", "third") }),
    act: (world, { name }) =>
      Effect.gen(function* () {
        const before = Option.getOrThrow(yield* world.keys.findAccount(world.account.name));
        yield* rename(world, `${name} ${world.account.name}`);
        return before.displayName ?? "";
      }),
    undo: (world, _, before) => rename(world, before),
    parts: ["account"],
  }),

  "role of a member": law({
    input: record({ person: index, role, isOfOne: boolean() }),
    act: (world, { person, role: chosen, isOfOne }) =>
      Effect.gen(function* () {
        const chatId = nth(world.people, person);
        const before = yield* memberOf(world, chatId);
        const scopes = isOfOne ? [world.pid] : null;
        const changed = yield* changeMember(world, { type: "set_role", chatId, role: chosen, scopes });
        return typeof changed === "string" || before === undefined ? null : before;
      }),
    undo: (world, _, before) =>
      before === null
        ? Effect.void
        : changeMember(world, { type: "set_role", ...Struct.pick(before, ["chatId", "role", "scopes"]) }),
    parts: ["members"],
  }),

  "add a member": law({
    input: record({ person: index, role }),
    act: (world, { person, role: chosen }) => {
      const chatId = nth(world.people, person);
      return Effect.map(changeMember(world, { type: "add", chatId, role: chosen }), (changed) =>
        typeof changed === "string" ? null : chatId,
      );
    },
    undo: (world, _, chatId) =>
      chatId === null ? Effect.void : changeMember(world, { type: "remove", chatId }),
    parts: ["members"],
  }),

  "fields of a key": law({
    input: record({
      update: record<KeyUpdate>(
        {
          name: constantFrom("one", "two"),
          access: constantFrom("full", "read"),
          allowIps: constantFrom([], ["203.0.113.7"]),
          denyIps: constantFrom([], ["2001:db8::/32"]),
          redirectOrigins: constantFrom([], ["https://example.com"]),
          expiresAt: constantFrom(null, 9),
          status: constantFrom("active", "disabled"),
        },
        { requiredKeys: [] },
      ),
    }),
    act: ({ keys, write, sessionKey: { id } }, { update }) =>
      Effect.gen(function* () {
        const before = Option.getOrThrow(yield* keys.findById(id));
        yield* keys.updateKey({ ...write, id, update });
        return Struct.pick(before, Object.keys(update) as ReadonlyArray<keyof KeyUpdate>);
      }),
    undo: ({ keys, write, sessionKey: { id } }, _, update) => keys.updateKey({ ...write, id, update }),
    parts: ["key"],
  }),

  "fields of a webhook": law({
    prepare: ({ webhooks, webhookIds, write, scope }) =>
      webhooks.insert({
        ...write,
        webhook: makeWebhook(scope, { id: nth(webhookIds, 0) }),
        sealed: "sealed",
        position: 0,
        maxOfScope: 9,
      }),
    input: record({ update: webhookFields }),
    act: ({ webhooks, webhookIds, write }, { update }) =>
      Effect.gen(function* () {
        const id = nth(webhookIds, 0);
        const { url, types, description, status } = Option.getOrThrow(yield* webhooks.find(id));
        yield* webhooks.update({ ...write, id, change: update });
        return { url, types, description, status: status === "paused" ? status : "active" } as const;
      }),
    undo: ({ webhooks, webhookIds, write }, _, change) =>
      webhooks.update({ ...write, id: nth(webhookIds, 0), change }),
    parts: ["webhook"],
  }),
} as const satisfies Readonly<Record<string, Law>>;
