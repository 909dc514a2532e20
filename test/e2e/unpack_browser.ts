/** Unpacks the browser before several processes would: none can start it while another one writes it. */
import chromium from "@sparticuz/chromium";

export const setup = async (): Promise<void> => {
  // `startBrowser` then looks for another one.
  await chromium.executablePath().catch(() => undefined);
};
