/** Makes a PNG small: at most 256 colors, which suffice for pages of text, and the best compression. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** One number for each pixel: red, green and blue. */
  readonly colors: Uint32Array;
}

export const smallPng = (file: Buffer): Buffer => {
  const { width, height, colors } = readPixels(file);
  const palette = paletteOf(colors);
  const indexOf = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let position = 0; position < colors.length; position++) {
    const color = colors[position] as number;
    const index = indexOf.get(color) ?? nearest(palette, color);
    indexOf.set(color, index);
    // Each row begins with the number of its filter, which is 0.
    rows[position + Math.floor(position / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  return Buffer.concat([
    file.subarray(0, 8),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flatMap(partsOf))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};

const chunk = (type: string, data: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
};

/** Reads a PNG of the browser: 8 bits a color, not interlaced, with or without alpha. */
const readPixels = (file: Buffer): Pixels => {
  const data: Array<Buffer> = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") data.push(file.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height, size] = [file.readUInt32BE(16), file.readUInt32BE(20), file[25] === 6 ? 4 : 3];
  const bytes = inflateSync(Buffer.concat(data));
  const stride = width * size;
  const colors = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let row = 0; row < height; row++) {
    const start = row * (stride + 1);
    const line = new Uint8Array(bytes.subarray(start + 1, start + 1 + stride));
    const filter = bytes[start];
    for (let at = 0; at < stride; at++) {
      const left = at < size ? 0 : (line[at - size] as number);
      const up = above[at] as number;
      const corner = at < size ? 0 : (above[at - size] as number);
      line[at] = (line[at] as number) + predicted(filter, left, up, corner);
    }
    for (let column = 0; column < width; column++) {
      const at = column * size;
      const [red, green, blue] = [line[at] as number, line[at + 1] as number, line[at + 2] as number];
      colors[row * width + column] = (red << 16) | (green << 8) | blue;
    }
    above = line;
  }
  return { width, height, colors };
};

/** The filters of PNG: none, sub, up, average, Paeth. */
const predicted = (filter: number | undefined, left: number, up: number, corner: number): number => {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const [a, b] = [Math.abs(up - corner), Math.abs(left - corner)];
      const c = Math.abs(left + up - 2 * corner);
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default:
      return 0;
  }
};

const mostColors = 256;

/** The most frequent colors. If there are too many, colors that look like a more frequent one are left out. */
const paletteOf = (colors: Uint32Array): ReadonlyArray<number> => {
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const frequent = [...counts].toSorted((one, other) => other[1] - one[1] || one[0] - other[0]);
  for (let least = 0; ; least += 8) {
    const palette: Array<number> = [];
    for (const [color] of frequent) {
      if (palette.every((other) => distance(color, other) >= least)) palette.push(color);
      if (palette.length > mostColors) break;
    }
    if (palette.length <= mostColors) return palette;
  }
};

const partsOf = (color: number): [number, number, number] => [color >> 16, (color >> 8) & 255, color & 255];

const distance = (one: number, other: number): number => {
  const [[red, green, blue], [red2, green2, blue2]] = [partsOf(one), partsOf(other)];
  return (red - red2) ** 2 + (green - green2) ** 2 + (blue - blue2) ** 2;
};

const nearest = (palette: ReadonlyArray<number>, color: number): number => {
  let best = 0;
  for (const [index, other] of palette.entries()) {
    if (distance(color, other) < distance(color, palette[best] as number)) best = index;
  }
  return best;
};
