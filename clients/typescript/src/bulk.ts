/**
 * Reads the header x-not-created-index: places from 0 (`3,17`), runs of them (`3,17-19`), or, between colons in base64, a bit for each
 * item, the highest bit of a byte first. Empty where nothing failed.
 */
export function notCreatedIndex(header: string | null): number[] {
  if (!header) return [];
  if (header.startsWith(":")) {
    return [...Buffer.from(header.slice(1, -1), "base64")].flatMap((byte, at) =>
      [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (0x80 >> bit)).map((bit) => at * 8 + bit),
    );
  }
  return header.split(",").flatMap((part) => {
    const [first = NaN, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
}
