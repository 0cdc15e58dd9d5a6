import { Stopped } from '../stopped.js';

/** Size of a batch: a number, or a percentage of the total, rounded up. At least one. */
export function batchSizeFrom(text: string, total: number): number {
  const [, digits, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  const number = Number(digits);
  if (digits === undefined || number === 0 || (percent === '%' && number > 100)) {
    throw new Stopped(
      `--batch-size takes a number or a percentage such as 25%, not ${JSON.stringify(text.slice(0, 40))}`,
      2,
    );
  }
  return percent === '%' ? Math.max(1, Math.ceil((total * number) / 100)) : number;
}

export function batchesOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const batches: T[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  return batches;
}
