/**
 * Unpacks the browser and the servers before several processes would: none can start the browser while another one
 * writes it, and each of them would download the servers.
 */

import { whyNoAiohttp, whyNoHaproxy, whyNoNginx, whyNoPromtool, whyNoRedis } from "@accountlink/test-servers";
import chromium from "@sparticuz/chromium";

export const setup = async (): Promise<void> => {
  // Where they cannot be had, `startBrowser` looks for another one, and tests are skipped or fail.
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
