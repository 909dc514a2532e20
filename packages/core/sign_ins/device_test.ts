import { assert, it } from "@accountlink/test-servers/effect";
import { deviceOf } from "./device.ts";

const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";

it("a device is named by browser and system", () => {
  const names = [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webKit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
    `Mozilla/5.0 (Linux; Android 15; SM-S911B) ${webKit} Chrome/140.0.0.0 Mobile Safari/537.36`,
    "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/1 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
    "curl/8.5.0",
    "Windows 203.0.113.7",
  ].map(deviceOf);
  assert.deepStrictEqual(names, [
    "Edge on Windows",
    "Chrome on Android",
    "Firefox on Linux",
    "Safari on iPhone",
    "Safari on macOS",
    null,
    "Windows",
  ]);
  assert.isNull(deviceOf(null));
});
