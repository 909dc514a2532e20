import { makeGuildChannels } from "@accountlink/core/platforms";
import { RolePlans } from "@accountlink/core/roles";
import { DashboardChannels } from "@accountlink/http-api";
import { Effect } from "effect";
import { makePostPanel } from "../../chat/mod.ts";
import { makeApiPipeline } from "../api_pipeline.ts";

export const channelsApi = Effect.gen(function* () {
  const bind = yield* makeApiPipeline;
  const plans = yield* RolePlans;
  const { findChannels } = yield* makeGuildChannels;
  const postPanel = yield* makePostPanel;

  return [
    bind(DashboardChannels.getChannels, function* ({ owner, values: { pid, guildId } }) {
      yield* plans.enter(owner, pid, guildId);
      const { channels } = yield* findChannels(guildId);
      return { data: { channels } };
    }),

    bind(DashboardChannels.postPanel, function* ({ owner, values: { pid, guildId, channelId, text } }) {
      const scope = yield* plans.enter(owner, pid, guildId);
      return { data: { messageId: yield* postPanel({ scope, guildId }, channelId, text) } };
    }),
  ];
});
