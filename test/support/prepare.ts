/**
 * Prepares what tests share. Writes the types that git ignores, so that they fit the checked-out branch.
 * Unpacks the browser and the servers: otherwise, one process could start the browser while another still writes it, and
 * each would download the servers.
 */

import { rm } from "node:fs/promises";
import {
  isProof,
  whyNoAiohttp,
  whyNoHaproxy,
  whyNoNginx,
  whyNoPromtool,
  whyNoRedis,
} from "@accountlink/test-servers";
import chromium from "@sparticuz/chromium";
import { writeTypes } from "../../tools/written_types.ts";
import { checkedPagesOf } from "./checked_pages.ts";

export const setup = async (): Promise<void> => {
  writeTypes();
  // These steps may fail: `startBrowser` then uses an installed browser, and tests that need a missing server are
  // skipped.
  const unpacked = [
    chromium.executablePath(),
    whyNoRedis(),
    whyNoHaproxy(),
    whyNoNginx(),
    ...(isProof ? [whyNoPromtool()] : []),
    whyNoAiohttp(),
  ];
  await Promise.allSettled(unpacked);
};

export const teardown = (): Promise<void> =>
  rm(checkedPagesOf(process.pid), { recursive: true, force: true });
