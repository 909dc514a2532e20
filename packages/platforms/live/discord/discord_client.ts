/** The HTTP client for Discord's API: it sends a user agent, is authorized as the bot, and respects rate limits. */
import { Duration, Effect, flow, Redacted } from "effect";
import { HttpClient, HttpClientRequest } from "effect/http";
import { type Resilience, resilientClient } from "../../http/mod.ts";
import { makeRateLimiter, observeRateLimits, RateLimits } from "./rate_limits.ts";

/** The version of Discord's API that the schemas in `discord_wire.ts` describe. */
export const discordApi = "https://discord.com/api/v10";

export interface LiveChatPlatformOptions {
  /** The ID of the application, for the URL where owners add the bot; if left out, the port has no such URL. */
  readonly clientId?: string;
  readonly botToken: Redacted.Redacted;
  /** This service's public URL, which Discord requires in the user agent. */
  readonly publicUrl: string;
  /** The base URL of Discord's API, including the version. */
  readonly apiUrl?: string | undefined;
  readonly resilience?: Partial<Resilience>;
}

/** Sets the user agent in the format that Discord requires. */
export const userAgent = (publicUrl: string) =>
  HttpClientRequest.setHeader("user-agent", `DiscordBot (${publicUrl}, 1)`);

/** A page of 1,000 members may take several megabytes. */
const maxBodyBytes = 8_388_608;

/** For changes of roles and messages, which wait for rate limits. */
const patient = { attemptTimeout: Duration.seconds(10), deadline: Duration.seconds(20), maxBodyBytes };

/**
 * Makes a client for lookups, a client for answers to commands, and clients for roles and channels, which wait longer.
 * The clients share Discord's rate limits, but not the circuit breaker: if requests for roles keep failing, lookups still
 * work.
 */
export const discordClients = Effect.fnUntraced(function* ({
  botToken,
  publicUrl,
  apiUrl = discordApi,
  resilience,
}: LiveChatPlatformOptions) {
  const limits = new RateLimits();
  const http = observeRateLimits(yield* HttpClient.HttpClient, limits);
  const authorized = HttpClient.mapRequest(
    flow(
      HttpClientRequest.prependUrl(apiUrl),
      HttpClientRequest.setHeader("authorization", `Bot ${Redacted.value(botToken)}`),
      userAgent(publicUrl),
    ),
  );
  const anonymous = HttpClient.mapRequest(flow(HttpClientRequest.prependUrl(apiUrl), userAgent(publicUrl)));
  const waitingLong = yield* makeRateLimiter(limits, Duration.seconds(10));
  return {
    client: authorized(
      yield* resilientClient(http, "chat", { maxBodyBytes, ...resilience }, yield* makeRateLimiter(limits)),
    ),
    /** Edits answers to commands, for which Discord wants no token of the bot and has no limits of its own. */
    answers: anonymous(yield* resilientClient(yield* HttpClient.HttpClient, "chat_answers", resilience)),
    channels: authorized(
      yield* resilientClient(http, "chat_channels", { ...patient, ...resilience }, waitingLong),
    ),
    roles: authorized(yield* resilientClient(http, "chat_roles", { ...patient, ...resilience }, waitingLong)),
  };
});
