/** Returns a copy of the object that it was created for. */
export type ShapeCopier = (shape: Record<string, unknown>) => Record<string, unknown>;

/*
 * V8 records for each spread expression in the source which shapes of objects are copied there, and is fast for at most four. The table
 * has some seventy blocks: with a single expression for all of them, reading a document is slower. Hence the many copies of one
 * function.
 */
const copiers: readonly ShapeCopier[] = [
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
  (shape) => ({ ...shape }),
];

let given = 0;

/** A copier shared by few others, for an object that is copied often. */
export function shapeCopier(): ShapeCopier {
  const copier = copiers[given % copiers.length] as ShapeCopier;
  given += 1;
  return copier;
}

/**
 * The same object in the form that V8 copies fastest. An object that was built key by key becomes a slow one after a dozen
 * keys, and so does every copy; a parsed one does not. The values must be what JSON can carry.
 */
export function fastShape(shape: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(shape)) as Record<string, unknown>;
}
