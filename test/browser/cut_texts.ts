/** Finds texts that a reader of a page cannot read whole. */
import type { Page } from "playwright-core";

/**
 * Returns the texts that are cut, run out of their box, lie on another text, or are labels with a word that breaks over two
 * lines. Menus cut their choice by themselves, and show it whole when they are opened.
 */
export const cutTexts = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate<ReadonlyArray<string>>(String.raw`(() => {
    const found = new Set();
    const report = (fault, element) => found.add(fault + ": " + element.innerText.trim().slice(0, 60));
    const range = document.createRange();
    const lines = [];

    /** Looks at a text: whether it is in the window, and breaks no word of a label. */
    const readText = (element, node) => {
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        if (rect.width > 1) lines.push({ element, rect });
        if ((rect.left < -1 || rect.right > innerWidth + 1) && !element.closest(".scroller, pre")) report("outside", element);
      }
      if (!element.closest(".button, .badge, summary, h1, h2, h3, label, legend, dt, nav")) return;
      for (const { 0: word, index } of node.data.matchAll(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}]+/gu)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) report("broken", element);
      }
    };

    for (const element of document.querySelectorAll("body *")) {
      if (!element.checkVisibility() || element.closest("svg, select, .unseen, .skip")) continue;
      // On narrow windows, the head of a table is for screen readers alone.
      if (element.closest("thead")?.clientWidth === 1) continue;
      const { display, overflowX, overflowY, font, paddingInline } = getComputedStyle(element);
      const isBox = element.clientWidth > 0 && display !== "inline";
      const isCut = (overflow) => isBox && !/auto|scroll/.test(overflow);
      if (isCut(overflowX) && element.scrollWidth > element.clientWidth + 1) report("wide", element);
      if (isCut(overflowY) && overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1) report("high", element);
      const isLabel = element.matches(".button:not(:has(.unseen))");
      if (isLabel && element.innerText.trim() !== element.textContent.trim()) report("hidden", element);
      if (element.matches("input[placeholder]")) {
        const pen = Object.assign(document.createElement("canvas").getContext("2d"), { font });
        const room = element.clientWidth - 2 * parseFloat(paddingInline);
        if (pen.measureText(element.placeholder).width > room + 1) found.add("placeholder: " + element.placeholder);
      }
      for (const node of element.childNodes) if (node.nodeType === 3 && node.data.trim() !== "") readText(element, node);
    }

    const shared = (from, to, start, end) => Math.min(to, end) - Math.max(from, start);
    lines.sort((one, other) => one.rect.top - other.rect.top);
    lines.forEach(({ element, rect }, index) => {
      for (const { element: other, rect: { left, right, top, bottom } } of lines.slice(index + 1)) {
        if (top > rect.bottom) break;
        if (shared(rect.left, rect.right, left, right) > 2 && shared(rect.top, rect.bottom, top, bottom) > rect.height / 2)
          report("covered by " + other.innerText.trim().slice(0, 60), element);
      }
    });
    return [...found];
  })()`);
