/** A recorded case: what was asked and what the recorded system answered. Its other members are up to the kind. */
export interface Vector {
  readonly id: string;
}

/** What surrounds the record being played. */
export interface PlayContext {
  /** The file's name within its folder, without ending: `cron`, `schedule/nodes`. */
  readonly file: string;
  /** The contents of another file of the folder, named the same way; read once. */
  readonly companion: (file: string) => unknown;
}

/** Plays one record: undefined when our answer is equal, else the first difference in words. */
export type Play<V extends Vector> = (vector: V, context: PlayContext) => Difference | Promise<Difference>;

export type Difference = string | undefined;

/** What a module `test/replay/<kind>.ts` exports. */
export interface PlayerModule {
  readonly play: Play<Vector>;
}
