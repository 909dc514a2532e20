import type { StoragePorts } from "@accountlink/core";
import { type Community, newCommunity } from "@accountlink/core/communities";
import { KeyStore } from "@accountlink/core/keys";
import { UserStore } from "@accountlink/core/users";
import { Effect } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { paused, settings, start, uniqueGuildId } from "../roles/role_steps.ts";
import { atOnce, eraseUser, newestOf, origin } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newCommunitySteps } from "./community_steps.ts";

export const communityCases: Cases<StoragePorts> = {
  "the home of a guild is the community that is on, or else the one that was turned on last": function* () {
    const guildId = uniqueGuildId();
    const [first, second, third] = [
      yield* newCommunitySteps(guildId),
      yield* newCommunitySteps(guildId),
      yield* newCommunitySteps(guildId),
    ];
    const { home } = first;
    yield* first.put(paused);
    expectEqual(yield* home, null);
    yield* first.put(settings, 0, start);
    yield* first.pause;
    expectEqual(yield* home, first.scope.pid);
    yield* second.put(settings, 0, start + 1);
    expectEqual(yield* home, second.scope.pid);
    yield* second.put(paused, 0, start + 2);
    yield* third.put(paused, 0, start + 3);
    yield* first.put({ ...paused, nickname: null }, 0, start + 4);
    expectEqual(yield* home, second.scope.pid);
  },

  "the home of a guild reminds its members, also while its rules are paused, and no other community":
    function* () {
      const guildId = uniqueGuildId();
      const [first, second] = [yield* newCommunitySteps(guildId), yield* newCommunitySteps(guildId)];
      const reminding = Effect.map(first.communities.reminding(), (found) =>
        found.flatMap((each) => (each.guildId === guildId ? [each.scope.pid] : [])),
      );
      for (const { remind } of [first, second]) yield* remind;
      expectEqual(yield* reminding, []);
      yield* first.put(settings, 0, start);
      expectEqual(yield* reminding, [first.scope.pid]);
      yield* first.put(paused, 0, start + 1);
      expectEqual(yield* reminding, [first.scope.pid]);
      yield* second.put(settings, 0, start + 2);
      yield* second.put(paused, 0, start + 3);
      expectEqual(yield* reminding, [second.scope.pid]);
      yield* second.put(settings, 0, start + 4);
      yield* second.pauseFor("bot_removed");
      expectEqual(yield* reminding, []);
    },

  "a pause says who paused the rules, when and why, also after they are edited": function* () {
    const { found, put, place, pauseFor } = yield* newCommunitySteps();
    const member = uniqueChatId();
    const pauses = UserStore.use((users) =>
      Effect.map(users.find(member), ({ downloads }) => downloads["pauses"]),
    );
    const byMember = { ...origin, actor: { type: "account", id: uniqueText(), member } } as const;
    yield* put();
    yield* put(paused, 0, start + 1, byMember);
    yield* put({ ...paused, nickname: null }, 0, start + 2);
    const by = { type: "account", id: member } as const;
    expectEqual((yield* found)?.paused ?? null, { at: start + 1, why: null, by });
    expectEqual(yield* pauses, [{ ...place, pausedAt: start + 1 }]);
    yield* eraseUser(member);
    expectEqual((yield* found)?.paused ?? null, {
      at: start + 1,
      why: null,
      by: { type: "account", id: null },
    });
    expectEqual(yield* pauses, []);
    yield* put();
    yield* pauseFor("bot_removed");
    expectEqual((yield* found)?.paused ?? null, { at: start, why: "bot_removed", by: null });
    yield* put();
    expectEqual([(yield* found)?.paused, (yield* found)?.homeSince], [null, start]);
  },

  "the community of an account that ends is paused, and stays the home of its guild": function* () {
    const { put, scope, found, home } = yield* newCommunitySteps();
    yield* put(settings, 0, start);
    const keys = yield* KeyStore;
    yield* keys.endAccount({ ...origin, name: scope.account, pseudonym: uniqueText(), at: start + 1 });
    expectEqual((yield* found)?.paused ?? null, { at: start + 1, why: "account_closed", by: null });
    expectEqual(yield* home, scope.pid);
  },

  "deleting a plan forgets the settings of its community, not its panels": function* () {
    const { put, setLog, savePanel, remove, found, home, scope, guildId } = yield* newCommunitySteps();
    yield* put();
    yield* setLog("70");
    for (const messageId of ["1", "2"]) yield* savePanel("70", messageId);
    yield* savePanel("71", "3");
    expectEqual(yield* remove, true);
    const text = "Hi 🎮";
    const panels = [
      { channelId: "70", messageId: "2", text },
      { channelId: "71", messageId: "3", text },
    ];
    expectEqual<Community | null>(yield* found, { ...newCommunity, scope, guildId, panels });
    expectEqual(yield* home, null);
    expectEqual(yield* remove, false);
  },

  "a panel is logged when it is posted and when its text changes, not when it is posted as it is":
    function* () {
      const { savePanel, found, scope, guildId } = yield* newCommunitySteps();
      yield* savePanel("70", "1");
      yield* savePanel("70", "1");
      yield* savePanel("70", "1", null);
      yield* savePanel("70", "2", null);
      yield* savePanel("70", null);
      const entries = yield* newestOf(scope.account, "panel.posted");
      const inChannel = { guildId, channelId: "70" };
      expectEqual(pluck(entries, "details"), [
        { ...inChannel, messageId: null, text: "Hi 🎮" },
        { ...inChannel, messageId: "2", text: null },
        { ...inChannel, messageId: "1", text: null, previousText: "Hi 🎮" },
        { ...inChannel, messageId: "1", text: "Hi 🎮" },
      ]);
      expectEqual((yield* found)?.panels, [{ channelId: "70", messageId: "2", text: null }]);
    },

  "a community without a plan has settings, which deleting its plan forgets": function* () {
    const { setLog, remove, found, find, log } = yield* newCommunitySteps();
    yield* setLog("70");
    expectEqual([yield* log, yield* find], ["70", null]);
    expectEqual(yield* remove, true);
    expectEqual(yield* found, null);
  },

  "concurrent changes of a new community are all stored": function* () {
    const { setLog, savePanel, put, found, log, communities, scope } = yield* newCommunitySteps();
    const channels = Array.from({ length: 8 }, (_, index) => String(70 + index));
    const panels = channels.map((channelId) => savePanel(channelId, "1"));
    yield* Effect.all([setLog("70"), put(), ...panels], atOnce);
    const community = yield* found;
    expectEqual([yield* log, community?.homeSince], ["70", start]);
    expectEqual(new Set(pluck(community?.panels ?? [], "channelId")), new Set(channels));
    expectEqual(yield* communities.list(scope.pid), community === null ? [] : [community]);
  },
};
