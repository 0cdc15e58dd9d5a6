import fc from 'fast-check';

/** Any sequence of 16-bit units: NUL, white space of all kinds, lone surrogates, and mostly ASCII. */
export function anyText(maxLength = 40): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x80, max: 0xffff }) },
  );
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
}

/** The same without lone surrogates. */
export function wellFormedText(maxLength = 40): fc.Arbitrary<string> {
  const point = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));
  return fc.array(point, { maxLength }).map((points) => String.fromCodePoint(...points));
}
