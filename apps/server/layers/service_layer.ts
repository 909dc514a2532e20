/** Composes the layer of the service from the services of core and the implementations of the ports that they use. */
import { AccountLink, AuditRetention, EventRetention, SessionSettings } from "@accountlink/core";
import { GameWays, warnWithoutWay } from "@accountlink/core/flow";
import { Limits } from "@accountlink/core/limits";
import { IsRoblox } from "@accountlink/core/platforms";
import { RemindersPerMinute } from "@accountlink/core/reminders";
import { layerMemberJoins, RoleCouriers } from "@accountlink/core/roles";
import type { DeploymentSecrets } from "@accountlink/core/secrets";
import { WebhookCouriers } from "@accountlink/core/webhooks";
import { NodeWebhookSender } from "accountlink/webhook_sender";
import { Layer } from "effect";
import { neededForWays } from "../config/needed_for_ways.ts";
import type { ResolvedConfig } from "../config/resolved_config.ts";
import { cryptoLayer } from "../secrets/crypto_layer.ts";
import { deploymentKeysLayer } from "../secrets/deployment_secret.ts";
import { type PlayedFixture, platformLayer } from "./platform_layer.ts";
import { serverCacheLayer, storageLayer } from "./store_layers.ts";

export const serviceLayer = (
  resolved: ResolvedConfig,
  secrets: DeploymentSecrets,
  fixture: PlayedFixture,
  publicUrl: string,
) => {
  const { config, storage, cache, platform, gameWays, limits, sessions } = resolved;
  const startTimeout = config.ACCOUNTLINK_DATABASE_START_TIMEOUT;
  const stores = storageLayer({ config, storage, secrets }, { exclusive: true, startTimeout });
  const shared = Layer.mergeAll(
    Layer.provide(serverCacheLayer(cache), stores),
    cryptoLayer,
    Layer.succeed(Limits, limits),
    Layer.succeed(SessionSettings, sessions),
    Layer.succeed(GameWays, gameWays),
    Layer.succeed(IsRoblox, !(platform.kind === "live" && platform.game.kind === "http")),
    Layer.succeed(AuditRetention, config.ACCOUNTLINK_AUDIT_RETENTION),
    Layer.succeed(EventRetention, config.ACCOUNTLINK_EVENT_RETENTION),
    Layer.succeed(RemindersPerMinute, config.ACCOUNTLINK_REMINDERS_PER_MINUTE),
    NodeWebhookSender.layer({ networks: config.ACCOUNTLINK_WEBHOOK_NETWORKS }),
  );
  const ports = Layer.merge(
    deploymentKeysLayer(config, storage, secrets),
    platformLayer(platform, fixture, publicUrl),
  ).pipe(Layer.provideMerge(stores));
  const joins = config.ACCOUNTLINK_CHAT_GATEWAY === "on" ? layerMemberJoins : Layer.empty;
  const ways =
    platform.kind === "none" ? Layer.empty : Layer.effectDiscard(warnWithoutWay(neededForWays(resolved)));
  return Layer.mergeAll(AccountLink.layerWeb, WebhookCouriers.layer, RoleCouriers.layer, joins, ways).pipe(
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(ports),
    Layer.provideMerge(shared),
  );
};
