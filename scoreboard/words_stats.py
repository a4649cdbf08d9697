"""Words of the statistics in Latvian, English and German."""

from __future__ import annotations

from typing import Final

from rules.words import Lang

STATS_WORDS: Final[dict[str, dict[Lang, str]]] = {
    "stats": {"lv": "Statistika", "en": "Statistics", "de": "Statistik"},
    "stats_none": {"lv": "Vēl nav neviena sitiena.", "en": "No stroke yet.", "de": "Noch kein Stoß."},
    "stats_ways": {
        "lv": "Sitieni pēc veida: veiksmīgi no visiem",
        "en": "Strokes by kind: with a piece, of all",
        "de": "Stöße nach Art: mit Stein, von allen",
    },
    "stats_speeds": {"lv": "Sitienu ātrums", "en": "Speed of strokes", "de": "Tempo der Stöße"},
    "stats_series": {"lv": "Kauliņi sērijā", "en": "Pieces in a series", "de": "Steine in einer Serie"},
    "way_direct": {"lv": "tieši", "en": "direct", "de": "direkt"},
    "way_opposite": {"lv": "no pretējās apmales", "en": "off the opposite rail", "de": "über die Gegenbande"},
    "way_side": {"lv": "no sānu apmales", "en": "off a side rail", "de": "über die Seitenbande"},
    "way_own": {"lv": "no savas apmales", "en": "off the own rail", "de": "über die eigene Bande"},
    "kind_of_stroke": {"lv": "Sitiena veids", "en": "Kind of stroke", "de": "Art des Stoßes"},
    "strokes": {"lv": "Sitieni", "en": "Strokes", "de": "Stöße"},
    "lawful_ones": {"lv": "Pareizi", "en": "Lawful", "de": "Richtig"},
    "scored": {"lv": "Ar kauliņu", "en": "With a piece", "de": "Mit Stein"},
    "share": {"lv": "Daļa", "en": "Share", "de": "Anteil"},
    "median_speed": {"lv": "Parasti", "en": "Usual speed", "de": "Übliches Tempo"},
    "top_speed": {"lv": "Ātrākais", "en": "Fastest", "de": "Schnellster"},
    "longest_series": {"lv": "Garākā sērija", "en": "Longest series", "de": "Längste Serie"},
    "heat_striker": {"lv": "kur paliek ripa", "en": "where the striker rests", "de": "wo die Schlagscheibe liegen bleibt"},
    "heat_piece": {"lv": "kur paliek kauliņi", "en": "where pieces rest", "de": "wo Steine liegen bleiben"},
    "rests": {
        "lv": "{n} reizes, biežākajā vietā {most}",
        "en": "{n} times, {most} in the busiest place",
        "de": "{n}-mal, {most} am häufigsten Ort",
    },
}
