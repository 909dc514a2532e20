/**
 * Unpacks the browser and the servers once before the tests: otherwise, one process could start the browser while
 * another still writes it, and each would download the servers.
 */

import { whyNoAiohttp, whyNoHaproxy, whyNoNginx, whyNoPromtool, whyNoRedis } from "@accountlink/test-servers";
import chromium from "@sparticuz/chromium";

export const setup = async (): Promise<void> => {
  // These steps may fail: `startBrowser` then uses an installed browser, and tests that need a missing server are
  // skipped.
  const unpacked = [
    chromium.executablePath(),
    whyNoRedis(),
    whyNoHaproxy(),
    whyNoNginx(),
    whyNoPromtool(),
    whyNoAiohttp(),
  ];
  await Promise.allSettled(unpacked);
};
