import type { KeywordGroup, Part } from '../part.js';
import { type Check, FITS } from '../run.js';

interface Bound {
  readonly inclusive: string;
  readonly exclusive: string;
  readonly words: string;
  readonly isWithin: (value: number, bound: number) => boolean;
}

const least: Bound = {
  inclusive: 'minimum',
  exclusive: 'exclusiveMinimum',
  words: 'at least',
  isWithin: (value, bound) => value >= bound,
};

const most: Bound = {
  inclusive: 'maximum',
  exclusive: 'exclusiveMaximum',
  words: 'at most',
  isWithin: (value, bound) => value <= bound,
};

/** An exclusive bound is a separate number, or, as in draft 4, a boolean beside the inclusive one. */
function readBound({ schema, refuse }: Part, { inclusive, exclusive, words, isWithin }: Bound): Check {
  const bound = schema[inclusive];
  const beyond = schema[exclusive];
  if (bound !== undefined && typeof bound !== 'number') return refuse(inclusive, 'must be a number');
  if (typeof beyond === 'boolean') {
    if (bound === undefined) return refuse(exclusive, `as true or false has an effect only beside ${inclusive}`);
  } else if (beyond !== undefined && typeof beyond !== 'number') return refuse(exclusive, 'must be a number');
  const limit = beyond === true ? bound : typeof beyond === 'number' ? beyond : undefined;
  return (value, run, place) => {
    if (typeof value !== 'number') return FITS;
    if (bound !== undefined && !isWithin(value, bound)) return run.unfit(place, `must be ${words} ${bound}`);
    if (limit === undefined || (isWithin(value, limit) && value !== limit)) return FITS;
    return run.unfit(place, `must be ${words} ${limit}, and not ${limit} itself`);
  };
}

function readMultiple({ schema, refuse }: Part): Check {
  const factor = schema['multipleOf'];
  if (typeof factor !== 'number' || factor <= 0) return refuse('multipleOf', 'must be a number above 0');
  return (value, run, place) =>
    typeof value !== 'number' || isMultiple(value, factor) ? FITS : run.unfit(place, `must be a multiple of ${factor}`);
}

/** Compared in decimal notation: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const [digits, scale] = decimal(value);
  const [factorDigits, factorScale] = decimal(factor);
  const common = Math.max(scale, factorScale, 0);
  return (digits * 10n ** BigInt(common - scale)) % (factorDigits * 10n ** BigInt(common - factorScale)) === 0n;
}

/** A number as an integer and its number of decimals, which is negative for large numbers. */
function decimal(value: number): readonly [bigint, number] {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), fraction.length - Number(exponent)];
}

export const numberKeywords: readonly KeywordGroup[] = [
  { keywords: [least.inclusive, least.exclusive], read: (part) => readBound(part, least) },
  { keywords: [most.inclusive, most.exclusive], read: (part) => readBound(part, most) },
  { keywords: ['multipleOf'], read: readMultiple },
];
