import type { Difference, Play, Vector } from './player.js';
import { playScore, type ScoreCase } from './stories/score-case.js';
import type { Story } from './stories/story.js';
import { StoryPlayer } from './stories/story-player.js';

/** Plays a story step by step, or one placement whose scores are all known. */
export const play: Play<Vector> = (vector): Difference => {
  if ('steps' in vector) return new StoryPlayer(vector as Story).play();
  return playScore(vector as ScoreCase);
};
