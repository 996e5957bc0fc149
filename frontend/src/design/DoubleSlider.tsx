/** A range by its two ends: drawn on a line, or typed beside it. */

import styles from "./DoubleSlider.module.css";

interface DoubleSliderProps {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly from: number;
  readonly to: number;
  /** Each step doubles; what is typed may be any number. */
  readonly isByPowers?: boolean;
  readonly onLow: (value: number) => void;
  readonly onHigh: (value: number) => void;
}

export function DoubleSlider(props: DoubleSliderProps) {
  const { name, low, high, from, to, isByPowers = false, onLow, onHigh } = props;
  const placeOf = (value: number) => (isByPowers ? Math.log2(Math.max(1, value)) : value);
  const valueOf = (place: number) => (isByPowers ? Math.round(2 ** place) : place);
  const [first, last] = [placeOf(from), Math.ceil(placeOf(to))];
  const share = (value: number) =>
    `${(100 * (placeOf(value) - first)) / Math.max(1, last - first)}%`;
  const ends = [
    {
      word: "Fewest",
      value: low,
      set: (value: number) => {
        onLow(Math.min(value, high));
      },
      type: onLow,
    },
    {
      word: "Most",
      value: high,
      set: (value: number) => {
        onHigh(Math.max(value, low));
      },
      type: onHigh,
    },
  ] as const;
  return (
    <div className={styles.slider}>
      {ends.map(({ word, value, type }) => (
        <input
          key={word}
          className={styles.number}
          type="number"
          min={1}
          step={1}
          aria-label={`${word} ${name}`}
          value={value}
          onChange={({ target }) => {
            if (target.valueAsNumber >= 1) type(Math.round(target.valueAsNumber));
          }}
        />
      ))}
      <div className={styles.track} style={{ "--low": share(low), "--high": share(high) }}>
        {ends.map(({ word, value, set }) => (
          <input
            key={word}
            type="range"
            min={first}
            max={last}
            step={1}
            aria-label={`${word} ${name}, on a line`}
            aria-valuetext={String(value)}
            value={placeOf(value)}
            onChange={({ target }) => {
              set(valueOf(target.valueAsNumber));
            }}
          />
        ))}
      </div>
    </div>
  );
}
