/** The routes of a guild's channel, and those that the service uses to answer commands. */
import { ChatId } from "@accountlink/core";
import type { FixtureGuild } from "@accountlink/core/fixture";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { Clock, Effect, Schema } from "effect";
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http";
import { makePages } from "../oauth/sign_in_page.ts";
import { done, json, platformRoute, refuse, type Simulation } from "../simulation.ts";
import { AnswerMessage } from "../wire.ts";
import { makeChannels } from "./channel.ts";
import { channelHtml } from "./channel_page.ts";

/** @param serviceUrl the public URL of the service that answers commands */
export const channelRoutes = Effect.fnUntraced(function* (
  simulation: Simulation,
  serviceUrl: string | undefined,
) {
  const { guilds, chatUsers, joins, privateMessages } = simulation.platforms;
  const channels = yield* makeChannels(simulation.platforms, serviceUrl);
  const pages = yield* makePages("chat");

  const enter = Effect.fnUntraced(function* (as: string | undefined) {
    const { guildId = "" } = yield* HttpRouter.params;
    const guild = guilds.get(guildId);
    const chatId = as ?? guild?.page(null).members[0]?.chatId ?? "";
    const me = guild?.member(chatId);
    if (guild?.hasBot !== true || (me === undefined && !chatUsers.has(chatId))) {
      return yield* Effect.fail(
        pages.problem("The bot is in no such community, or nobody here has this ID."),
      );
    }
    return { guild, chatId: ChatId.make(chatId), isMember: me !== undefined };
  });

  const join = Effect.fnUntraced(function* (guild: FixtureGuild, chatId: ChatId) {
    const joined = formatTimestamp(yield* Clock.currentTimeMillis);
    guild.put({ chatId, manager: false, nickname: null, joined, roles: [] });
    joins.push({ guildId: guild.id, chatId });
  });

  const show = Effect.fnUntraced(function* (as: string | undefined, problem: string | null = null) {
    const { guild, chatId, isMember } = yield* enter(as);
    const messages = isMember ? channels.messagesFor(guild.id, chatId) : [];
    return pages.own(
      guild.name ?? guild.id,
      channelHtml({
        guild,
        chatId,
        chatUsers,
        messages,
        privateMessages: [...(privateMessages.get(chatId)?.values() ?? [])],
        postsIn: channels.postsIn,
        problem,
      }),
    );
  });

  const act = Effect.gen(function* () {
    const form = yield* HttpServerRequest.schemaBodyUrlParams(Form).pipe(
      Effect.mapError(() => pages.problem('The form has no "command", "action", "membership" or "posting".')),
    );
    const { guild, chatId, isMember } = yield* enter(form.as);
    const here = HttpServerResponse.redirect(`/chat/guilds/${guild.id}?as=${chatId}`, { status: 303 });
    if ("membership" in form) {
      if (form.membership === "leave") guild.remove(chatId);
      else if (!isMember) yield* join(guild, chatId);
      return here;
    }
    if ("posting" in form) {
      const channel = guild.channels.get(form.channel);
      if (channel) guild.channels.set(channel.id, { ...channel, mayPost: form.posting === "open" });
      return here;
    }
    if (!isMember) return yield* show(chatId, "Only members write here.");
    const asking =
      "command" in form
        ? channels.type(guild, chatId, form.command)
        : channels.press(guild, chatId, form.message, form.action);
    return yield* asking.pipe(
      Effect.as(here),
      Effect.catchTag("NoAnswer", ({ problem }) => show(chatId, problem)),
    );
  });

  const edit = Effect.gen(function* () {
    const { token = "" } = yield* HttpRouter.params;
    const message = yield* HttpServerRequest.schemaBodyJson(AnswerMessage).pipe(
      Effect.mapError(() => refuse("invalid_request")),
    );
    return channels.edit(token, message) ? done : refuse("unknown_message");
  });

  const shown = Effect.flatMap(HttpServerRequest.ParsedSearchParams, ({ as }) =>
    show(typeof as === "string" ? as : undefined),
  );
  const page = "/chat/guilds/:guildId";
  return [
    platformRoute(simulation, "GET", page, shown),
    platformRoute(simulation, "POST", page, act),
    platformRoute(simulation, "GET", "/chat/api/application", Effect.succeed(json(channels.application))),
    platformRoute(simulation, "PATCH", "/chat/api/webhooks/:applicationId/:token/messages/@original", edit),
  ];
});

const Form = Schema.Union([
  Schema.Struct({ as: Schema.String, message: Schema.String, action: Schema.String }),
  Schema.Struct({ as: Schema.String, command: Schema.String }),
  Schema.Struct({
    as: Schema.String,
    channel: Schema.String,
    posting: Schema.Literals(["open", "closed"]),
  }),
  Schema.Struct({ as: Schema.String, membership: Schema.Literals(["join", "leave"]) }),
]);
