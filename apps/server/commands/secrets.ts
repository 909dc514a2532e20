import { AddressVault } from "@accountlink/core";
import { rotateAddressKeys } from "@accountlink/core/alts";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { answer, countOf } from "../cli/output.ts";
import { progressBar } from "../cli/progress.ts";
import { CommandFailed } from "../cli/report.ts";
import { rotateDeploymentSecret } from "../secrets/deployment_secret.ts";
import { describe, group } from "./command.ts";
import { type OpenedStorage, openStorage, servicesOn } from "./management_layer.ts";

const rotateSecretsCommand = Command.make("rotate", {}, () =>
  Effect.flatMap(openStorage("refuse"), (opened) => Effect.provide(rotate(opened), servicesOn(opened))),
).pipe(
  describe(
    [
      "Wrap the root key with the new secret of ACCOUNTLINK_SECRET=new,old, and bring every sighting " +
        "under the newest of ACCOUNTLINK_ADDRESS_KEYS. No key changes, and running servers are not " +
        "affected. A data folder that holds its own secret gets a new one in its place: copy the old one first, which " +
        "earlier backups need.",
      "It can be repeated at any time, and resumes an interrupted rotation.",
    ],
    {
      'ACCOUNTLINK_SECRET="$new,$old" accountlink secrets rotate':
        "When every server has been restarted with both secrets",
    },
  ),
);

export const secretsCommand = group("secrets", "Rotate the secret of the deployment and the address keys", [
  rotateSecretsCommand,
]);

const rotate = Effect.fnUntraced(function* (opened: OpenedStorage) {
  const rotated = yield* rotateDeploymentSecret(opened);
  const { newestKeyId } = yield* AddressVault;
  const sightings = yield* Effect.flatMap(progressBar(), (show) =>
    rotateAddressKeys(({ rotated: done, unreadable, total }) =>
      show({ doing: "re-encrypting", done: done + unreadable, total, unit: "sightings" }),
    ),
  ).pipe(Effect.scoped);
  const { location } = opened;
  const json = {
    secret: rotated ? "rotated" : "unchanged",
    addressKey: newestKeyId,
    sightings: { rotated: sightings.rotated, unreadable: sightings.unreadable },
    ...location.json,
  };
  const text = [
    rotated
      ? `The root key of ${location.text} is wrapped with the new secret now`
      : `The root key of ${location.text} was wrapped with the newest secret already`,
    `${countOf(sightings.rotated, "sighting")} brought under address key "${newestKeyId}"`,
  ];
  if (sightings.unreadable > 0) {
    return yield* new CommandFailed({
      problem: `Cannot read ${countOf(sightings.unreadable, "sighting")}, expected the keys that protect them in ACCOUNTLINK_ADDRESS_KEYS`,
      notes: text,
      details: json,
    });
  }
  yield* answer(json, text.join("\n"));
});
