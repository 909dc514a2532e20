import { Communities, communitySettingNames } from "@accountlink/core/communities";
import { originOf } from "@accountlink/core/keys";
import { makeGuildChannels } from "@accountlink/core/platforms";
import { DashboardChannels, DashboardRoles } from "@accountlink/http-api";
import { Effect, Struct } from "effect";
import { makePostPanel } from "../../chat/mod.ts";
import { formOperation, makeOperation } from "../api_pipeline.ts";

/** The settings of a community in `putRoles`, which programs call. */
const ofCommunity = {
  role: "admin" as const,
  parameters: Struct.pick(DashboardRoles.putRoles.parameters, ["pid", "guildId", ...communitySettingNames]),
};

/** What members and keys do with the channels of a guild, by JSON and by the forms of the page. */
export const makeChannelOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const { enter, update } = yield* Communities;
  const { findChannels } = yield* makeGuildChannels;
  const postPanel = yield* makePostPanel;

  return {
    saveSettings: formOperation(ofCommunity, function* ({ owner, values }) {
      yield* update(yield* enter(owner, values), values, originOf(owner));
    }),

    list: operation(DashboardChannels.getChannels, function* ({ owner, values }) {
      const { guildId } = yield* enter(owner, values);
      const { channels } = yield* findChannels(guildId);
      return { channels: channels.map(Struct.pick(["id", "name", "mayPost"])) };
    }),

    postPanel: operation(DashboardChannels.postPanel, function* ({ owner, values }) {
      const { channelId, text } = values;
      const guild = yield* enter(owner, values);
      return { messageId: yield* postPanel(guild, channelId, text, originOf(owner)) };
    }),
  };
});
