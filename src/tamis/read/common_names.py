"""Common given and family names of several languages, to recognise columns of people's names.

Everyday words, trades, places and months are left out, so that a column of towns or of jobs is not
taken for names. The names are without accents, as are the texts they are compared with.
"""

from __future__ import annotations

_GIVEN = """
aaron abdul abdullah abigail adam adrian adriana agnes agnieszka agus ahmad ahmed aidan aino aisha
ajay akira alan albert alberto alejandro aleksandr alena alessandro alessia alexander alexandra
alexandre alexandru alexei alexis alfred alfredo ali alice alicia alison alvaro amanda amelia
amina aminata amit amy ana anastasia anders andrea andreas andrei andres andrew andrzej angela
anil anita anjali ann anna anne anneli annette annie anouk anthony antoine anton antonella antonio
antti arjun arnaud arthur artur ashley astrid attila audrey aurelie ayhan ayse bambang barbara
beatrice beatriz ben benjamin bernard bernd bert beth bianca bjorn bob boris brandon brenda brian
bridget britta brittany bruno bryan budi burak camille carl carla carlos carmela carmen carol
caroline carolyn carsten catherine cathy cecilia charles cheryl chinedu chloe chris christa
christina christine christophe christopher claire clara claude claudia claudio clement colin
concetta connor consuelo cornelis craig cristian cristina cynthia daniel daniela daniele danielle
darren dave david deborah deepa deepak denis denise dennis derek dewi diana diane diego dieter
dimitri dmitri dolores domenico dominik dominique donald donna doris dorothy douglas duncan ece
edgar eduardo edward edwin elaine eleanor elena eli elias elif elisa elisabeth elise elizabeth
ella ellen elsa emil emilia emilie emily emine emma emmanuel emre encarnacion enrico enrique eric
erica erik erika ernst erzsebet esra esther ethan eugene eva evelyn ewa fabian fabio fabrice
fatima fatma fatou federica federico felix femke ferenc fernanda fernando filip filippo fiona
florian florin francesca francesco francisco franck francois frantisek franz frederic frederick
fredrik friedrich fritz gabor gabriel gabriela gabriele gary geeta geoffrey georg george gerald
gerard gerhard gert gheorghe gianluca gillian gina giorgio giovanni giulia giuseppe giuseppina
gloria gonzalo gordon graham greg gregory guido guillaume gulsen gunter gustav guy hakan hana
hannah hannu hans harald harold harry hasan hassan hatice heather heidi heike heikki heinrich
heinz helen helena helene helga helmut hendra hendrik henri henrik henry herbert hiroshi hoang
holger howard hugh hugo huong huseyin hussein ian ibrahim ida ignacio igor ilona ines inga ingrid
ioana irene irina isaac isabel isabella isabelle ismail istvan ivan jack jacob jacqueline
jacques jakob jakub james jamie jan jana jane janet janice jari jaroslav jason javier jean jeff
jeffrey jennifer jens jeremy jeroen jerome jerry jessica jesus jihoon jill jim jing jiri jitendra
joan joana joanna joao joe joel joerg johan johann johanna johannes john johnny joko jon jonas
jonathan jorge jose josef josefa joseph josephine joshua joyce jozsef juan judith judy juha jukka
julia julian juliana julie julien juliette jurgen justin kaisa kaitlyn karel karen kari karin
karina karl karolina katalin katarina katarzyna kate katerina katharina katherine kathleen kathryn
kathy katja katrin kavita keith kelly kemal ken kenji kenneth kerstin kevin khalid kim kimberly
klara klaus kofi konrad kristen kristiina kristin kristina krystyna krzysztof kumar kurt kwame
kyle lakshmi lars laszlo laura lauren laurence laurent lea leila lena lenka leo leon leonard
leonardo leslie liisa lin linda linh lisa lorenzo lothar louis louise luc luca lucas lucia luciana
lucie lucy ludmila luis luisa lukas luke lydia maciej magdalena mahmoud malgorzata mamadou manfred
manoj manuel manuela marc marcel marcela marcelo marcin marco marcos marcus margaret margarita
maria mariana marianne marie marieke marina mario marion marisol marjorie marko markus marta
martha martin martina martine mary marzena massimo mateusz mathias mathieu mathilde matteo matthew
matthias matti maurice maurizio maximilian megan mehmet melanie melissa merve michael michaela
michal michel michele michelle miguel mihai mika mike mikhail milan milos mina minh minji minna
mohamed mohammad mohammed molly monica monika morten muhammad murat mustafa nadia nadine nancy
naomi natalia natalie natasha nathalie nathan neha neil ngozi niamh nicholas nick nicola nicolae
nicolas nicole niels nikhil nikolai nina noah noemie nora norbert norma nuno olaf oleg olga oliver
olivia olivier omar onur orhan oscar osman ousmane pablo paivi pamela paola paolo pascal patrice
patricia patrick paul paula pauline pavel pawel pedro pekka peter petr petra phil philip philipp
philippe phillip pierre pieter pietro pilar piotr pooja pradeep priya priyanka putri rachel rafael
rahul rainer raj rajesh ralf ralph ramesh ramon raphael raquel ratna raul ravi raymond rebecca
regina reinhard rekha renate renato rene ricardo richard rina rita robert roberta roberto rocio
roger rohit roland rolf roman ronald rosa rosemary ross roxanne roy rudolf russell ruth
ryan sabine sally salma salvatore sam samantha samir samuel sandeep sander sandor sandra sandrine
sanjay sanne santiago sara sarah satoshi scott sean sebastian sebastien selin serge sergei
sergio serkan sevgi shane shannon sharon shaun sheila shirley sigrid silke silvia simon
simone siobhan siti sofia sonia sophia sophie stanislaw stefan stefania stefano steffen stella
stephan stephanie stephen steve steven stuart sunil sunita suresh susan susana susanne
suzanne svein sven svetlana sylvia sylvie takashi tamara tanja tanya tara tatiana teresa terry
thea theodor theresa therese thierry thomas thuy tiago tibor tiina tim timo timothy tina tobias
todd tom tomas tomasz tony torsten tracy trevor tuncay udo ulrich ulrike ursula ute vaclav
valentina valerie vanessa vasile vera veronica veronika vicente victor vijay vikram viktor vincent
vincenzo vinod vladimir volker wahyu walter wanda wayne wendy werner wilfried wilhelm willem
william wolfgang wouter xavier xiaoming yanti yasmin yolanda yosef youssef yuki yuri yusuf
yvonne zdenek zdenka zehra zeynep zoe zofia zoltan zsofia zsuzsanna
"""
GIVEN_NAMES = frozenset(_GIVEN.split())

_FAMILY = """
abdullah adams adeyemi agarwal ahmed akhtar alexander ali allen almeida alonso alvarez alves
andersen anderson andersson andrews araujo armstrong arnold arslan axelsson aydin babic bailey
balogh banerjee barbieri barbosa barnes baumann becker begum bengtsson bennett berger bergstrom
bernard bertrand bianchi bonnet boyer bradley brooks brouwer bruno bryant bui burns cai cakir
campbell cano cardoso carroll caruso carvalho castillo castro celik cerna cerny cetin chatterjee
chen cheng chevalier cho choi chopra christensen ciobanu clark collins colombo constantin conti
cortes crawford cruz cunningham dabrowska dabrowski dang daniels david davis dekker delgado deng
desai diallo dias diaz dijkstra dinu dobre dogan dominguez dong dubois dumitru duong dupont durand
dvorak dvorakova edwards elliott ellis erdogan eriksen eriksson esposito evans farkas faure fekete
feng ferguson fernandes fernandez ferrari ferreira fleming flores fontaine fontana fournier
friedrich gallo gao garcia garnier garrido gauthier gheorghe gibson gil giordano girard gomes
gomez gonzales gonzalez grabowski graham griffin guerin guerrero gunther guo gupta gustafsson
gutierrez hajek hamalainen hamilton hansen hansson harris harrison hartmann harvey hassan haugen
hayashi heikkila heikkinen heinonen henderson hendriks hernandez herrera herrmann hicks hidayat
hoang hoekstra hoffmann hofmann holmes horak horakova horvat horvath howard huang hughes hussain
ibrahim iglesias ilie inoue ionescu iqbal ito ivanov ivanova iyer jacobs jakobsson jang jankowski
jansen janssen jansson jarvinen jelinek jenkins jensen jeong jiang jimenez johannessen johansen
johansson johnsen johnson johnston jokinen jones jong jonsson jorgensen joshi jovanovic juhasz
juric kaminska kaminski kang kapoor karjalainen karlsen karlsson kato kaya kelley kennedy khan
kilic kim kimura kinnunen kobayashi koc kohler korhonen korkmaz koskinen kovacevic kovacs
kowalczyk kowalska kowalski kozlov kozlowski kral krause krawczyk kristiansen kruger kucera
kucerova kumar kuznetsov kuznetsova laine laitinen lakatos lambert larsen larsson laurent lawrence
lebedev lefebvre lefevre legrand lehmann lehtinen lehtonen leroy lewandowska lewandowski lewis
liang lim lin lindberg lindgren lindqvist lindstrom lombardi lopes lopez lorenz lozano lundberg
lundgren luo macdonald machado madsen magnusson mahmoud maier makela makinen malhotra mancini
marek mariani maric marino martin martinez matei matsumoto mattila mazur mccarthy mcdonald
mckenzie medina mehta meier meijer mendes mendez mensah mercier meszaros meyer michalski michel
mishra mitchell mohamed molina molnar moreau moreno moretti morgan morozov morris morrison mueller
mukherjee mulder muller munoz murphy murray myers nagy nair nakamura nascimento navarro ndiaye
nelson nemec nemeth neumann newman nguyen nichols nielsen niemi nieminen nikolic nilsen nilsson
novak novakova novikov novotna novotny nowak nugroho nunez obrien oconnor okafor olah oliveira
olsen olsson oneill ortega ortiz ozdemir ozkan ozturk papadopoulos papp parsons patel patterson
pavlov pawlowski pedersen peng pereira perez perkins perrin persson peters petrov petrova petrovic
pettersen pettersson pham phan phillips pierce piotrowski pokorny popa popescu popov pospisil
powell prieto prochazka prochazkova racz ramirez ramos rantanen rao rasmussen reddy reynolds
ribeiro ricci richards richardson rinaldi rizzo robert roberts robertson robinson rocha rodgers
rodrigues rodriguez rogers rojas romero rossi rousseau roux rubio ruiz russell russo rusu ruzicka
ryan saarinen sahin saito salminen salo salonen sanchez sanders santoro santoso sanz saputra
sasaki sato saunders savolainen schafer schmidt schmitz scholz schroder schulz schuster serrano
setiawan shah sharma sheikh shimizu sidorov silva simmons simon simpson simsek singh smirnov
smirnova smit snyder soares sokolov sorensen souza spencer stephens stevens stevenson stewart
stoica suarez sullivan susanto suzuki svensson svoboda svobodova szabo szilagyi szymanska
szymanski takacs takahashi tanaka tang teixeira thomas thompson torres toth tran traore tucker
tudor tuominen turner turunen varga vargas vasilopoulos vazquez verma vermeulen vesela vesely
vieira virtanen visser volkov vries wagner wallace walsh walter wang watanabe watkins watson watts
webb weiss welch wheeler wijaya wilkinson williams williamson willis wilson winkler wisniewska
wisniewski wojcik wozniak wright xie xu yamada yamaguchi yamamoto yang yildirim yildiz yilmaz yoon
yoshida yuan zhang zhao zheng zhou zhu zielinska zielinski zimmermann
"""
FAMILY_NAMES = frozenset(_FAMILY.split())
