import { AddressVault, AccountLink as Core, NetworkIntelligence, SessionSettings } from "@accountlink/core";
import { AskingNames } from "@accountlink/core/communities";
import { GameWays, warnWithoutWay } from "@accountlink/core/flow";
import { Limits } from "@accountlink/core/limits";
import { RoleCouriers } from "@accountlink/core/roles";
import { type DeploymentSecrets, RootKey, Secrets, webCrypto } from "@accountlink/core/secrets";
import { WebhookCouriers } from "@accountlink/core/webhooks";
import type { HttpSettings } from "@accountlink/http";
import { PageSettings } from "@accountlink/pages/page_settings";
import { Config, Effect, Layer, Record, References } from "effect";
import { Accounts } from "./accounts.ts";
import { Alts } from "./alts.ts";
import { Audit } from "./audit.ts";
import { changedSettings } from "./changed_settings.ts";
import { Events } from "./events.ts";
import { Keys } from "./keys.ts";
import { Links } from "./links.ts";
import {
  type CheckedOptions,
  type Configured,
  checkOptions,
  InvalidOptions,
  type Options,
  type Settings,
} from "./options.ts";
import { Roles } from "./roles.ts";
import { defaultAccount, Scope, type ScopeChoice } from "./scope.ts";
import { type Address, PublicAddress, Sessions } from "./sessions.ts";
import { Users } from "./users.ts";
import { Webhooks } from "./webhooks.ts";

const inScope = Layer.mergeAll(
  Links.layer,
  Keys.layer,
  Sessions.layer,
  Alts.layer,
  Audit.layer,
  Events.layer,
  Webhooks.layer,
  Roles.layer,
);

/**
 * Provides `Links`, `Keys`, `Sessions`, `Alts`, `Audit`, `Events`, `Webhooks` and `Roles` of another data scope.
 * Requires the services that `layer` provides.
 */
export const layerScope = (choice: ScopeChoice) =>
  // Build the layers anew: Effect would otherwise reuse the services of another scope.
  Layer.fresh(Layer.provideMerge(inScope, Scope.layer(choice)));

/**
 * Provides every service of this package. Unlike `layer`, it does not build the core services: the program must provide
 * them.
 *
 * @example
 * ```ts
 * import { MemoryWorld } from "@accountlink/testing";
 * import { Scope } from "accountlink";
 * import { Effect, Layer } from "effect";
 *
 * // In a test; a program has `layer` and `layerWeb` of core on its own ports.
 * const core = MemoryWorld.layer();
 * const address = { publicUrl: "https://links.example", redirectOrigins: [] };
 * const services = AccountLink.layerServices({ account: "other" }, address).pipe(Layer.provide(core));
 * const account = Effect.map(Scope, (scope) => scope.account);
 * await Effect.runPromise(Effect.provide(account, services)); // "other"
 * ```
 */
export const layerServices = (scope: ScopeChoice, address: Address) =>
  Layer.mergeAll(layerScope(scope), Accounts.layer, Users.layer).pipe(
    Layer.provideMerge(Layer.succeed(PublicAddress, address)),
  );

/**
 * Provides every service on a storage, and the ports that the services use. Fails with `InvalidOptions`, with
 * `SecretRejected` if the storage was used with another secret before, and with the errors of opening the storage.
 *
 * @example
 * ```ts
 * import { memory, Links } from "accountlink";
 * import { Effect } from "effect";
 *
 * const secret = crypto.getRandomValues(new Uint8Array(32));
 * const service = AccountLink.layer({ storage: memory(), secret, gameUserExists: () => true });
 * const set = Effect.flatMap(Links, (links) => links.set("100001", "1"));
 * (await Effect.runPromise(Effect.provide(set, service))).updated; // true
 * ```
 */
export const layer = <E>(options: Options<E>) =>
  Layer.unwrap(
    Effect.map(checkOptions(options), (checked) =>
      // Build the layers anew: Effect would otherwise reuse the services of a service around this one.
      Layer.suspend(() => Layer.fresh(layerOf(checked))),
    ),
  );

/**
 * Like `layer`, with options that can each be a `Config`, so that the program's `ConfigProvider` provides them.
 *
 * @example
 * ```ts
 * import { sqlite } from "accountlink/sqlite";
 * import { Config } from "effect";
 *
 * const service = AccountLink.layerConfig({
 *   storage: Config.map(Config.String("DATA_FOLDER"), sqlite),
 *   secret: Config.String("LINK_SECRET"),
 *   gameUserExists: () => true,
 * });
 * ```
 */
export const layerConfig = <E>(options: Configured<Options<E>>) =>
  Layer.unwrap(
    Effect.map(
      Effect.all(
        Record.map(options as Readonly<Record<string, unknown>>, (option) =>
          Config.isConfig(option) ? option : Effect.succeed(option),
        ),
      ),
      (settings) => layer(settings as unknown as Options<E>),
    ),
  );

/** Provides every service, in memory. */
export const layerMemory = (settings: Settings) => layer<never>(settings);

const layerOf = <E>({
  storage,
  secrets,
  scope = {},
  platforms,
  publicUrl,
  redirectOrigins = [],
  webhooks,
  gameProofs,
  pages,
  ...options
}: CheckedOptions<E>) =>
  layerServices(scope, { publicUrl, redirectOrigins }).pipe(
    Layer.catchTag("InvalidParameter", ({ parameters }) => {
      const problems = parameters.map(({ name, reason }) => `scope.${name} ${reason}`);
      return Layer.effectContext(Effect.fail(new InvalidOptions({ problems })));
    }),
    Layer.provideMerge(webhooks === undefined ? Layer.empty : webhookCouriers),
    Layer.provideMerge(roleCouriers),
    Layer.provideMerge(publicUrl === null ? Layer.empty : logCouriers(publicUrl)),
    Layer.provideMerge(publicUrl === null ? Layer.empty : Layer.effectDiscard(warnWithoutWay(waysAdvice))),
    Layer.provideMerge(Core.layerWeb),
    Layer.provideMerge(Core.layer),
    Layer.provideMerge(deploymentKeys(secrets)),
    Layer.provideMerge(pages === undefined ? Layer.empty : changedSettings(PageSettings, pages)),
    Layer.provideMerge(publicUrl === null ? Layer.empty : askingNames(scope, publicUrl)),
    Layer.provideMerge(gameProofs === undefined ? Layer.empty : Layer.succeed(GameWays, gameProofs)),
    Layer.provideMerge(Layer.merge(platforms, NetworkIntelligence.none)),
    Layer.provideMerge(Layer.merge(storage, webCrypto)),
    Layer.provideMerge(Layer.merge(webhooks ?? Layer.empty, settingsOf(options))),
  );

const waysAdvice =
  "set connection or signIn of gameOverHttp, or let the game have names and descriptions, or name its players in sessions";

/** Without an account, the site asks users for their links. `makeWebHandler` refuses a wrong URL. */
const askingNames = ({ account }: ScopeChoice, publicUrl: string) =>
  account === undefined && URL.canParse(publicUrl)
    ? Layer.succeed(AskingNames, { [defaultAccount]: new URL(publicUrl).host })
    : Layer.empty;

const settingsOf = ({ limits, sessions, logLevel, languages }: Partial<CheckedOptions<unknown>>) =>
  Layer.mergeAll(
    changedSettings(Limits, { ...limits }),
    changedSettings(SessionSettings, { ...sessions }),
    logLevel === undefined ? Layer.empty : Layer.succeed(References.MinimumLogLevel, logLevel),
    languages === undefined ? Layer.empty : changedSettings(PageSettings, { messages: languages }),
  );

const webhookCouriers: Layer.Layer<
  never,
  never,
  Layer.Services<typeof WebhookCouriers.layer>
> = WebhookCouriers.layer;

const roleCouriers: Layer.Layer<never, never, Layer.Services<typeof RoleCouriers.layer>> = RoleCouriers.layer;

/** Tells the log channels of communities. Its messages link to the dashboard, so it needs the HTTP interface. */
const logCouriers = (publicUrl: string) =>
  Layer.unwrap(
    Effect.promise(async () => {
      const [chat, http] = await Promise.all([
        import("@accountlink/pages/chat"),
        import("@accountlink/http"),
      ]);
      const settings = Layer.succeed(http.HttpSettings, { publicUrl, trustedProxies: [] });
      const messages = Layer.mergeAll(chat.LogCouriers.layer, chat.layerReminders, chat.layerPlanNotices);
      const told: Layer.Layer<
        never,
        never,
        Exclude<Layer.Services<typeof messages>, HttpSettings>
      > = Layer.provide(messages, settings);
      return told;
    }),
  );

/**
 * The key that protects client addresses has the ID "secret", as in the accountlink server. So this package and the
 * server can read the addresses that either of them stored.
 */
const deploymentKeys = (secrets: DeploymentSecrets) =>
  Layer.merge(
    Secrets.layer,
    Layer.unwrap(Effect.map(RootKey, (rootKey) => AddressVault.layer(new Map([["secret", rootKey]])))),
  ).pipe(Layer.provideMerge(RootKey.layer(secrets)));
