import fc from 'fast-check';

/*
 * A change is judged by the same cases everywhere. `PROPERTY_SEED=random` (or a number that a failure printed) looks for
 * further ones.
 */
const asked = process.env['PROPERTY_SEED'];
if (asked !== 'random') fc.configureGlobal({ seed: asked === undefined ? 20_261_121 : Number(asked) });
