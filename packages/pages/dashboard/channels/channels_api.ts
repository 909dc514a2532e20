import { Communities } from "@accountlink/core/communities";
import { makeGuildChannels } from "@accountlink/core/platforms";
import { DashboardChannels } from "@accountlink/http-api";
import { Effect, Struct } from "effect";
import { makePostPanel } from "../../chat/mod.ts";
import { makeApiPipeline } from "../api_pipeline.ts";

export const channelsApi = Effect.gen(function* () {
  const { bindManaged } = yield* makeApiPipeline;
  const { enter } = yield* Communities;
  const { findChannels } = yield* makeGuildChannels;
  const postPanel = yield* makePostPanel;

  return [
    bindManaged(DashboardChannels.getChannels, function* ({ owner, values: { pid, guildId } }) {
      yield* enter(owner, pid, guildId);
      const { channels } = yield* findChannels(guildId);
      return { data: { channels: channels.map(Struct.pick(["id", "name", "mayPost"])) } };
    }),

    bindManaged(
      DashboardChannels.postPanel,
      function* ({ owner, values: { pid, guildId, channelId, text } }) {
        const scope = yield* enter(owner, pid, guildId);
        return { data: { messageId: yield* postPanel({ scope, guildId }, channelId, text) } };
      },
    ),
  ];
});
