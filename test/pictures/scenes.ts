/** What each picture shows. */
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { type Stage, setStage } from "./stage.ts";

const phone = { width: 390, height: 844 };
const desktop = { width: 1180, height: 740 };
const margin = 24;
const themes = ["light", "dark"] as const;
/** Text is still sharp at this quality. Without loss, the files are almost four times as large. */
const format = { type: "webp", quality: 75 } as const;

/** The files of a picture in both themes, and a hash of the page that it shows. */
export interface Picture {
  readonly light: Buffer;
  readonly dark: Buffer;
  readonly page: string;
}

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const areaFrom = async (page: Page, heading: string | RegExp): Promise<Area> => {
  // A fragment in the address may have scrolled the page, and boxes are relative to the window.
  await page.setViewportSize({ width: desktop.width, height: 4_000 });
  const main = await page.locator("main").boundingBox();
  const start = await page.getByRole("heading", { name: heading }).first().boundingBox();
  if (main === null || start === null)
    throw new Error(`Cannot take pictures: there is no heading ${heading}`);
  const y = start.y - margin;
  const height = Math.min(desktop.height, main.y + main.height - y);
  return { x: main.x - margin, y, width: main.width + 2 * margin, height };
};

/** Returns the area of a channel with the messages of a member and the field for the next command. */
const conversationOf = async (page: Page): Promise<Area> => {
  await page.setViewportSize({ width: phone.width, height: 4_000 });
  const start = await page.getByRole("heading", { name: "Commands" }).boundingBox();
  const end = await page.getByRole("button", { name: "Send" }).boundingBox();
  if (start === null || end === null) throw new Error("Cannot take pictures: the channel has no commands");
  const y = start.y - margin;
  return { x: 0, y, width: phone.width, height: end.y + end.height + margin - y };
};

/** @param clip the area of the page that the picture shows; by default, its top */
const shoot = async (
  page: Page,
  clip: Area = { x: 0, y: 0, ...(page.viewportSize() ?? desktop) },
): Promise<Picture> => {
  // The clock of the flow would show that the time is over.
  await page.evaluate(`document.querySelector(".clock")?.remove()`);
  const take = async (colorScheme: (typeof themes)[number]) => {
    await page.emulateMedia({ colorScheme });
    return page.screenshot({ ...format, animations: "disabled", fullPage: true, clip });
  };
  return { light: await take("light"), dark: await take("dark"), page: await hashOf(page) };
};

/**
 * A hash of the text, the structure and the style of a page. It does not depend on the values of attributes except
 * classes, because addresses and forms have random parts, nor on addresses in the text and the random names of the
 * demo's keys.
 */
const hashOf = async (page: Page): Promise<string> => {
  const source = (await page.content())
    .replaceAll(/ (?!class=)[\w-]+="[^"]*"/g, "")
    .replaceAll(/Key [0-9A-Za-z]{12}|http:[^<\s]*/g, "");
  const styles = await Promise.all(
    (await page.locator("link[rel=stylesheet]").all()).map(async (link) => {
      const path = (await link.getAttribute("href")) ?? "";
      return (await page.request.get(new URL(path, page.url()).href)).text();
    }),
  );
  return createHash("sha256")
    .update(JSON.stringify([source, styles]))
    .digest("base64url")
    .slice(0, 16);
};

/** Presses a link or button, and waits for the page to which it leads. */
const press = async (page: Page, name: string | RegExp): Promise<void> => {
  const main = page.locator("main");
  const loaded = page.waitForEvent("load");
  await main.getByRole("link", { name }).or(main.getByRole("button", { name })).first().click();
  await loaded;
};

/** Loads a page again until it shows a text, which the service makes in the background. */
const waitFor = async (page: Page, text: string | RegExp): Promise<void> => {
  for (let tries = 0; tries < 100; tries++) {
    if ((await page.locator("main").getByText(text).count()) > 0) return;
    await page.waitForTimeout(200);
    await page.reload();
  }
  throw new Error(`Cannot take pictures: the page never showed ${text}`);
};

const goAs = async ({ url, open }: Stage, person: string, size: typeof phone) => {
  const page = await open(size);
  await page.goto(url);
  await press(page, person);
  return page;
};

interface Part {
  readonly picture: Picture;
  readonly width: number;
  readonly caption?: string;
}

/** Makes one picture of several beside each other. */
const beside = async ({ open }: Stage, parts: ReadonlyArray<Part>): Promise<Picture> => {
  const gap = 24;
  const width = parts.reduce((sum, part) => sum + part.width + gap, gap);
  const compose = async (theme: (typeof themes)[number]) => {
    const page = await open({ width, height: 400 }, 1);
    const [ground, ink, rule] =
      theme === "light" ? ["#fff", "#1a1b20", "#d5d7dd"] : ["#0d0e11", "#eceef2", "#33353d"];
    await page.setContent(`<!doctype html>
<style>
body { margin: 0; padding: ${gap}px; display: flex; gap: ${gap}px; background: ${ground}; color: ${ink}; font: 600 17px sans-serif; }
figure { margin: 0; }
figcaption { padding-bottom: 14px; }
img { display: block; border: 1px solid ${rule}; border-radius: 12px; box-sizing: border-box; }
</style>${parts
      .map(({ picture, width: wide, caption }) => {
        const image = `<img width="${wide}" src="data:image/webp;base64,${picture[theme].toString("base64")}">`;
        return `<figure>${caption === undefined ? "" : `<figcaption>${caption}</figcaption>`}${image}</figure>`;
      })
      .join("")}`);
    const file = await page.screenshot({ ...format, fullPage: true });
    await page.context().close();
    return file;
  };
  const page = createHash("sha256")
    .update(parts.map((part) => part.picture.page).join())
    .digest("base64url");
  return { light: await compose("light"), dark: await compose("dark"), page: page.slice(0, 16) };
};

export const takePictures = async (): Promise<Readonly<Record<string, Picture>>> => {
  const stage = await setStage();
  try {
    return await scenes(stage);
  } finally {
    await stage.close();
  }
};

const scenes = async (stage: Stage) => {
  const ada = await goAs(stage, "Ada, the owner", desktop);
  const visit = (path: string) => ada.goto(`${stage.url}/dashboard/${path}`);
  await visit("usage");
  const usage = await shoot(ada);
  await visit("links");
  await ada.getByLabel("List", { exact: true }).selectOption("Engine Room");
  await press(ada, "Search");
  const links = await shoot(ada, { x: 0, y: 0, ...desktop, height: 640 });
  const manyLinks = await shoot(ada, { x: 0, y: 0, ...desktop, height: 840 });
  await visit("alts?kind=chat&id=100002");
  const alts = await shoot(ada, await areaFrom(ada, /^Grace\s+100002/));
  await visit("communities");
  await press(ada, /^Roles\s+of Shared list/);
  await press(ada, "Engine Room");
  await ada.getByLabel("Member to look at", { exact: true }).fill("linus");
  await press(ada, "Show what would change");
  const roles = await shoot(ada, await areaFrom(ada, "Rules"));

  const linus = await goAs(stage, "Linus, a player", phone);
  await linus.getByLabel("Command").fill("/verify");
  await press(linus, "Send");
  const channel = await shoot(linus, await conversationOf(linus));
  await linus.setViewportSize(phone);
  await press(linus, "Verify");
  const steps = [await shoot(linus)];
  for (const platform of ["Sign in to Discord", "Sign in to Roblox"]) {
    await press(linus, platform);
    await press(linus, "Linus");
    steps.push(await shoot(linus));
  }
  const flow = await beside(
    stage,
    steps.map((picture) => ({ picture, width: phone.width })),
  );
  const ways = await waysOf(stage);
  const overview = await beside(stage, [
    { picture: channel, width: 300, caption: "A member types /verify," },
    { picture: steps[1] as Picture, width: 300, caption: "proves the account on Roblox," },
    { picture: manyLinks, width: 908, caption: "and the community knows who plays as whom." },
  ]);

  await ada.setViewportSize(desktop);
  await visit("links/unlinked");
  const unlinked = await shoot(ada);

  // Linus is new, and verifies in the browser of Grace's second account.
  const browser = await goAs(stage, "Linus, a player", desktop);
  const guild = browser.url();
  for (const [chatName, gameName] of [
    [/^Grace \(second account\)/, "Grace"],
    ["Linus", "Linus"],
  ] as const) {
    await browser.goto(guild);
    await browser.getByLabel("Command").fill("/verify");
    await press(browser, "Send");
    await press(browser, "Verify");
    await press(browser, "Sign in to Discord");
    await press(browser, chatName);
    await press(browser, "Sign in to Roblox");
    await press(browser, gameName);
    await press(browser, "Link these accounts");
  }
  await visit("alts/new");
  await waitFor(ada, "Linus");
  const newAlts = await shoot(ada);
  await press(ada, /^Block…/);
  const block = await shoot(ada);
  await visit("communities");
  await press(ada, "Shared list");
  await press(ada, "Choose channels");
  await press(ada, "Engine Room");
  const panel = await shoot(ada);
  return { overview, flow, ways, channel, links, roles, alts, usage, unlinked, newAlts, block, panel };
};

const shownWords = "apple river lamp chair cloud garden";

/** The ways to prove a game account without a sign-in there. */
const waysOf = async (stage: Stage): Promise<Picture> => {
  const verifyAs = async (chatId: string, link: string, name: string) => {
    const page = await goAs(stage, "Linus, a player", phone);
    await page.goto(page.url().replace(/as=\d+/, `as=${chatId}`));
    await page.getByLabel("Command").fill("/verify");
    await press(page, "Send");
    await press(page, link);
    await press(page, "Sign in to Discord");
    await press(page, name);
    return page;
  };
  const connected = await shoot(await verifyAs("100001", "Use another account", "Ada"));

  const linus = await verifyAs("100004", "Verify", "Linus");
  await press(linus, "Put words into your profile on Roblox");
  await linus.getByLabel("User name on Roblox").fill("linus_plays");
  await press(linus, "Continue");
  // The words are random.
  await linus.evaluate(`document.getElementById("words").textContent = "${shownWords}"`);
  const words = await shoot(linus);

  const game = await goAs(stage, "Grace, in a game", phone);
  await press(game, "Link my chat account");
  const code = (await game.locator("#code").textContent()) ?? "";
  const grace = await stage.open(phone);
  await grace.goto(`${stage.url}/go`);
  await grace.getByRole("textbox").fill(code);
  await press(grace, "Continue");
  return beside(stage, [
    { picture: connected, width: phone.width, caption: "Connected at Discord," },
    { picture: words, width: phone.width, caption: "by words in the profile," },
    { picture: await shoot(grace), width: phone.width, caption: "or from a game that says who plays" },
  ]);
};
