/**
 * `accountlink secrets rotate`
 */
import { AddressVault, rotateAddressKeys } from "@accountlink/core";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { paragraphs } from "../internal/help.ts";
import { answer, countOf } from "../internal/output.ts";
import { progressBar } from "../internal/progress.ts";
import { CommandFailed } from "../internal/report.ts";
import { type OpenedStorage, openStorage, servicesOn } from "../management.ts";
import { rotateDeploymentSecret } from "../rotate_secret.ts";

export const rotateSecretsCommand = Command.make("rotate", {}, () =>
  Effect.flatMap(openStorage("refuse"), (opened) => Effect.provide(rotate(opened), servicesOn(opened))),
).pipe(
  Command.withDescription(
    paragraphs(
      "Wrap the root key with the new secret of ACCOUNTLINK_SECRET=new,old, and bring every sighting under the newest of ACCOUNTLINK_ADDRESS_KEYS. No key changes, and servers that run are not affected. A data folder that holds its own secret gets a new one.",
      "It can be repeated at any time, and goes on where it was cut off.",
    ),
  ),
  Command.withShortDescription("Rotate the deployment's secret and address keys"),
  Command.withExamples([
    {
      command: 'ACCOUNTLINK_SECRET="$new,$old" accountlink secrets rotate',
      description: "When every server has been restarted with both secrets",
    },
  ]),
);

const rotate = Effect.fnUntraced(function* (opened: OpenedStorage) {
  const rotated = yield* rotateDeploymentSecret(opened);
  const { newestKeyId } = yield* AddressVault;
  const sightings = yield* Effect.flatMap(progressBar(), (show) =>
    rotateAddressKeys(({ rotated: done, unreadable, total }) =>
      show({ doing: "re-encrypting", done: done + unreadable, total, unit: "sightings" }),
    ),
  ).pipe(Effect.scoped);
  const { place } = opened;
  const json = {
    secret: rotated ? "rotated" : "unchanged",
    addressKey: newestKeyId,
    sightings: { rotated: sightings.rotated, unreadable: sightings.unreadable },
    ...place.json,
  };
  const text = [
    rotated
      ? `The root key of ${place.text} is wrapped with the new secret now`
      : `The root key of ${place.text} was wrapped with the newest secret already`,
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
