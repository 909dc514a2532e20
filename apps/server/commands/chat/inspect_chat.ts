import { commandBodies, interactionsPath } from "@accountlink/pages/chat";
import { Effect } from "effect";
import type { Config } from "../../config/config.ts";
import type { Platform } from "../../config/resolved_config.ts";

/** Compares what the application at the chat platform has with this version of the service. */
export const inspectChat = Effect.fnUntraced(function* (
  config: Config,
  { publicUrl, chat }: Extract<Platform, { readonly kind: "live" }>,
) {
  const { liveChatInstallation } = yield* Effect.promise(() => import("@accountlink/platforms/live"));
  const installation = yield* liveChatInstallation({ ...chat, publicUrl });
  const commands = yield* commandBodies;
  const { interactions_endpoint_url: found, verify_key: key } = yield* installation.application;
  const differences = yield* installation.differences(commands);
  const address = found === undefined || found === "" ? null : found;
  const ownAddress = `${publicUrl}${interactionsPath}`;
  const keyProblem =
    (config.ACCOUNTLINK_CHAT_PUBLIC_KEY ?? key).toLowerCase() === key.toLowerCase()
      ? []
      : ["ACCOUNTLINK_CHAT_PUBLIC_KEY is another key than the application's."];
  const problems = [
    ...differences.map((name) => `The command "${name}" differs.`),
    ...(address === ownAddress
      ? []
      : [`Commands are sent to ${address ?? "no address"}, expected ${ownAddress}.`]),
    ...keyProblem,
  ];
  const isInstalled = address !== null || differences.length < commands.length;
  return { installation, commands, differences, address, ownAddress, isInstalled, keyProblem, problems };
});
